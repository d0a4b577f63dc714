//! A real draw call that reads poses and vertices in the command buffer of the step.

use super::*;

/// A vertex shader that takes a position, as words of SPIR-V: `gl_Position = position`.
const VERTEX_SHADER: &[u32] = &[
    0x0723_0203,
    0x0001_0000,
    0,
    12,
    0, // header: version 1.0, ids below 12
    0x0002_0011,
    1, // OpCapability Shader
    0x0003_000e,
    0,
    1, // OpMemoryModel Logical GLSL450
    0x0007_000f,
    0,
    1,
    0x6e69_616d,
    0,
    8,
    9, // OpEntryPoint Vertex %1 "main" %8 %9
    0x0004_0047,
    8,
    30,
    0, // OpDecorate %8 Location 0
    0x0004_0047,
    9,
    11,
    0, // OpDecorate %9 BuiltIn Position
    0x0002_0013,
    2, // %2 = OpTypeVoid
    0x0003_0021,
    3,
    2, // %3 = OpTypeFunction %2
    0x0003_0016,
    4,
    32, // %4 = OpTypeFloat 32
    0x0004_0017,
    5,
    4,
    4, // %5 = OpTypeVector %4 4
    0x0004_0020,
    6,
    1,
    5, // %6 = OpTypePointer Input %5
    0x0004_0020,
    7,
    3,
    5, // %7 = OpTypePointer Output %5
    0x0004_003b,
    6,
    8,
    1, // %8 = OpVariable %6 Input
    0x0004_003b,
    7,
    9,
    3, // %9 = OpVariable %7 Output
    0x0005_0036,
    2,
    1,
    0,
    3, // %1 = OpFunction %2 None %3
    0x0002_00f8,
    10, // OpLabel
    0x0004_003d,
    5,
    11,
    8, // %11 = OpLoad %5 %8
    0x0003_003e,
    9,
    11, // OpStore %9 %11
    0x0001_00fd,
    0x0001_0038, // OpReturn, OpFunctionEnd
];

/// A renderer's pipeline that draws a triangle a body, with the poses as instance data.
struct Drawing {
    device: Arc<OwnDevice>,
    pass: vk::RenderPass,
    frame: vk::Framebuffer,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl Drawing {
    fn new(device: Arc<OwnDevice>) -> Self {
        let vk = &device.host().device;
        // SAFETY: ordinary Vulkan, with handles that are alive; descriptions borrow locals; `drop` destroys what is
        // made.
        unsafe {
            let subpasses = [vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)];
            let info = vk::RenderPassCreateInfo::default().subpasses(&subpasses);
            let pass = vk.create_render_pass(&info, None).unwrap();
            let info = vk::FramebufferCreateInfo::default().render_pass(pass).width(1).height(1).layers(1);
            let frame = vk.create_framebuffer(&info, None).unwrap();
            let layout = vk.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None).unwrap();
            let module = vk.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(VERTEX_SHADER), None);
            let module = module.unwrap();
            let stages = [vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::VERTEX)
                .module(module)
                .name(c"main")];
            let bindings = [vk::VertexInputBindingDescription::default()
                .stride(size_of::<BodyPose>() as u32)
                .input_rate(vk::VertexInputRate::INSTANCE)];
            let attributes = [vk::VertexInputAttributeDescription::default().format(vk::Format::R32G32B32A32_SFLOAT)];
            let input = vk::PipelineVertexInputStateCreateInfo::default()
                .vertex_binding_descriptions(&bindings)
                .vertex_attribute_descriptions(&attributes);
            let assembly =
                vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
            let raster =
                vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true).line_width(1.0);
            let info = vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&input)
                .input_assembly_state(&assembly)
                .rasterization_state(&raster)
                .layout(layout)
                .render_pass(pass);
            let made = vk.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
            vk.destroy_shader_module(module, None);
            Self { pass, frame, layout, pipeline: made.unwrap()[0], device }
        }
    }

    fn draw(&self, commands: vk::CommandBuffer, poses: vk::Buffer, count: u32) {
        let vk = &self.device.host().device;
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: 1, height: 1 } };
        let begin = vk::RenderPassBeginInfo::default().render_pass(self.pass).framebuffer(self.frame).render_area(area);
        // SAFETY: the command buffer is being recorded, on a family that draws; the buffer holds `count` poses.
        unsafe {
            vk.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            vk.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            vk.cmd_bind_vertex_buffers(commands, 0, &[poses], &[0]);
            vk.cmd_draw(commands, 3, count, 0, 0);
            vk.cmd_end_render_pass(commands);
        }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        let vk = &self.device.host().device;
        // SAFETY: everything was waited for.
        unsafe {
            vk.destroy_pipeline(self.pipeline, None);
            vk.destroy_pipeline_layout(self.layout, None);
            vk.destroy_framebuffer(self.frame, None);
            vk.destroy_render_pass(self.pass, None);
        }
    }
}

/// Steps and draws twice in every command buffer, four times over. The host names its reads on entry, or does not.
fn step_draw_step(host: &HostLoop, named: bool) {
    let drawing = Drawing::new(host.device.clone());
    let (world, _) = boxes(20);
    let options = FramesOptions { frames_in_flight: 4, ..roomy(500) };
    let mut stepper = host.stepper(world, Settings::default(), options);
    let reads = HostAccess::new(vk::PipelineStageFlags::VERTEX_INPUT, vk::AccessFlags::VERTEX_ATTRIBUTE_READ);
    for submission in 1..=4 {
        host.wait(submission - 1);
        host.frame(submission, |commands| {
            for _ in 0..2 {
                let prepared = stepper.prepare(DT, 2 * (submission - 1)).unwrap();
                // SAFETY: as in `run`; the drivers' one family draws.
                unsafe { stepper.record(commands, prepared, named.then_some(reads), Some(reads)) };
                let poses = stepper.poses().unwrap();
                drawing.draw(commands, poses.current, poses.count);
                drawing.draw(commands, poses.previous, poses.count);
            }
        });
    }
    host.wait(4);
    assert_eq!(stepper.poll(8).unwrap().len(), 8);
}

#[test]
fn step_draw_step_does_not_write_poses_that_a_vertex_shader_still_reads() {
    host_loops(|host| step_draw_step(host, true));
    // The same without a word on entry: the layers see what the barrier is for.
    let host = HostLoop::new(open("llvmpipe"));
    step_draw_step(&host, false);
    let said = host.device.validation().take();
    assert!(said.iter().any(|m| m.contains("WRITE_AFTER_READ") || m.contains("WRITE-AFTER-READ")), "{said:?}");
}

/// Vertices of soft bodies in the host's frames: positions are those of the particles to the bit, normals those of the
/// triangles around, and what lies beside them is what was drawn a frame before.
#[test]
fn vertices_of_soft_bodies_are_drawn_from_the_frame_before_and_the_last() {
    use drystone::layout::{SOFT_VERTEX_VERSION, SoftVertex};
    use drystone::world::{AttachmentDesc, Cloth, SoftDesc, SoftHandle, Solid};
    let cloth = || SoftDesc::cloth(Vec3::new(-0.5, 1.0, -0.5), Vec3::X, Vec3::Z, (9, 7), &Cloth::default());
    // One goes, and two come, which makes lists grow.
    let edit = |frame: u64, world: &mut World, soft: &mut Vec<SoftHandle>| match frame {
        4 => world.remove_soft(soft.remove(0)).unwrap(),
        6 => {
            soft.push(world.add_soft(cloth().moved(Vec3::X * 3.0)).unwrap());
            soft.push(world.add_soft(SoftDesc::rope(Vec3::Y, Vec3::ONE, 6, 0.1, 50.0, 0.1)).unwrap());
        }
        _ => {}
    };
    host_loops(|host| {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
        let held = world.add_soft(cloth()).unwrap();
        world.attach(AttachmentDesc::to_world(held, 0)).unwrap();
        let ball = world.add_soft(SoftDesc::ball(Vec3::Y * 2.0, 0.3, 4, &Solid::default())).unwrap();
        let mut soft = vec![held, ball];
        let settings = Settings::default().with(|s| s.iterations = 2);
        let mut stepper = host.stepper(world, settings, FramesOptions::default());
        let mut before: Vec<SoftVertex> = Vec::new();
        let mut moved = 0;
        for frame in 1..=9 {
            edit(frame, stepper.world_mut(), &mut soft);
            let prepared = stepper.prepare(DT, frame - 1).unwrap();
            let view = stepper.soft_vertices().expect("there are soft bodies");
            assert_eq!((view.stride as usize, view.offset), (size_of::<SoftVertex>(), 0));
            assert_eq!((view.version, view.generation), (SOFT_VERTEX_VERSION, stepper.generation()));
            let bytes = u64::from(view.count) * u64::from(view.stride);
            host.frame(3 * frame - 2, |commands| {
                // SAFETY: the command buffer is being recorded, and submitted once, in order, to the one queue.
                unsafe { stepper.record(commands, prepared, Some(COPIES), Some(COPIES)) };
                host.copy(commands, view.current, bytes);
            });
            host.wait(3 * frame - 2);
            let now: Vec<SoftVertex> = host.read(view.count as usize);
            host.frame(3 * frame - 1, |commands| host.copy(commands, view.previous, bytes));
            host.wait(3 * frame - 1);
            let previous: Vec<SoftVertex> = host.read(view.count as usize);
            let positions = stepper.plan().buffers.soft.unwrap().positions.id();
            let source = stepper.vk_buffer(positions).unwrap();
            host.frame(3 * frame, |commands| host.copy(commands, source, u64::from(view.count) * 12));
            host.wait(3 * frame);
            let positions: Vec<Vec3> = host.read(view.count as usize);
            let mut present = 0;
            for handle in &soft {
                let world = stepper.world();
                let first = world.soft_first_vertex(*handle).unwrap() as usize;
                let positions = &positions[first..first + world.soft_desc(*handle).unwrap().len()];
                let mut normals = vec![Vec3::ZERO; positions.len()];
                for corners in world.soft_triangles(*handle).unwrap() {
                    let [a, b, c] = corners.map(|c| positions[c as usize]);
                    corners.iter().for_each(|corner| normals[*corner as usize] += (b - a).cross(c - a));
                }
                for (i, (at, normal)) in positions.iter().zip(&normals).enumerate() {
                    let vertex = now[first + i];
                    assert_eq!((vertex.position, vertex.present, vertex.owner), (*at, 1, handle.index()));
                    let expected = normal.normalize_or_zero();
                    assert!((vertex.normal - expected).length() < 1e-4, "{}, not {expected}", vertex.normal);
                    let old = before.get(first + i).filter(|old| old.present == 1).unwrap_or(&vertex);
                    assert_eq!(previous[first + i], *old, "frame {frame}, {i}");
                    moved += u32::from(old.position != vertex.position);
                    let half = vertex.after(old, 0.5);
                    assert!((half.position - (vertex.position + old.position) * 0.5).length() < 1e-6);
                }
                present += positions.len();
            }
            assert_eq!(now.iter().filter(|v| v.present == 1).count(), present, "frame {frame}");
            stepper.poll(frame).unwrap();
            before = now;
        }
        assert!(moved > 500, "{moved} particles moved from frame to frame");
    });
}
