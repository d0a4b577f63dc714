// Unit boxes, an instance each, straight from the engine's buffer of poses (`layout::BodyPose`, version 1).
// Vulkan's clip space, y downwards. Compiled once with naga 30 and checked in beside this file:
//   naga --keep-coordinate-space boxes.wgsl boxes.spv

struct Camera {
    // From world space to clip space.
    clip: mat4x4<f32>,
}

var<immediate> camera: Camera;

struct Corner {
    @builtin(position) place: vec4<f32>,
    @location(0) @interpolate(flat) colour: vec3<f32>,
}

// The same colours and the same light as in `embed_offscreen.rs`, which makes a picture of rays to compare with.
fn body_colour(body: u32) -> vec3<f32> {
    let h = (body * 747796405u) ^ (body * 277803737u >> 9u);
    return vec3(f32(h >> 8u & 255u), f32(h >> 16u & 255u), f32(h >> 24u & 255u)) / 510.0 + 0.5;
}

fn light(normal: vec3<f32>) -> f32 {
    return 0.55 + 0.45 * dot(normal, normalize(vec3(-0.4, 0.8, 0.45)));
}

fn turned(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    let t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

@vertex
fn corner(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) body: u32,
    @location(0) position: vec3<f32>,
    @location(1) present: u32,
    @location(2) rotation: vec4<f32>,
) -> Corner {
    // Six faces of two triangles: face 0 is +x, 1 is -x, 2 is +y, and so on.
    let face = vertex / 6u;
    let axis = face / 2u;
    let side = 1.0 - 2.0 * f32(face % 2u);
    var squares = array<vec2<f32>, 6>(
        vec2(-1.0, -1.0), vec2(1.0, -1.0), vec2(1.0, 1.0), vec2(-1.0, -1.0), vec2(1.0, 1.0), vec2(-1.0, 1.0),
    );
    let at = squares[vertex % 6u];
    var normal = vec3(0.0, 0.0, side);
    var corner = vec3(at, side);
    if axis == 0u {
        normal = vec3(side, 0.0, 0.0);
        corner = vec3(side, at);
    } else if axis == 1u {
        normal = vec3(0.0, side, 0.0);
        corner = vec3(at.x, side, at.y);
    }
    var out: Corner;
    out.place = camera.clip * vec4(position + turned(rotation, corner * 0.5), 1.0);
    if present == 0u {
        out.place = vec4(2.0, 2.0, 2.0, 1.0); // a slot without a body is outside of the picture
    }
    out.colour = body_colour(body) * light(turned(rotation, normal));
    return out;
}

@fragment
fn pixel(in: Corner) -> @location(0) vec4<f32> {
    return vec4(in.colour, 1.0);
}
