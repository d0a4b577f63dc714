//! A renderer with its own device and graphics pipeline draws 10,000 boxes, straight from the engine's buffer of poses
//! as instance data: `cargo run --release --example embed_offscreen [DEVICE [PICTURE.png]]`.
//!
//! Step and drawing are in the same command buffer, two frames in flight; nothing is copied, and no pose passes the
//! host. In the end the picture is compared, pixel by pixel, with one that the engine's rays make of the same world in
//! a [`Simulation`] on the CPU.

mod renderer;

use anyhow::{Context, Result, ensure};
use drystone::backend::Device;
use drystone::glam::{Mat4, Quat, Vec3};
use drystone::layout::BodyPose;
use drystone::render::{Camera, RayCaster};
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{FramesOptions, GpuAllocator, HostAccess, Kernels};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Simulation, Stepper};
use renderer::Renderer;

const FRAMES: u64 = 12;
const DT: f32 = 1.0 / 60.0;
const SIZE: [u32; 2] = [480, 270];
const BOXES: u32 = 10_000;
const SKY: [f32; 4] = [0.2, 0.3, 0.4, 1.0];

/// What the draw call does with the poses: instance data.
const DRAWING: HostAccess =
    HostAccess::new(vk::PipelineStageFlags::VERTEX_INPUT, vk::AccessFlags::VERTEX_ATTRIBUTE_READ);

/// The renderer's pictures and pipeline.
struct Drawing<'a> {
    renderer: &'a Renderer,
    images: [(vk::Image, vk::DeviceMemory, vk::ImageView); 2],
    pass: vk::RenderPass,
    frame: vk::Framebuffer,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'a> Drawing<'a> {
    fn new(renderer: &'a Renderer) -> Result<Self> {
        let device = &renderer.host.device;
        // SAFETY: ordinary Vulkan; descriptions borrow locals that live through the calls; `drop` destroys what is
        // made.
        unsafe {
            let colour = image(renderer, vk::Format::R8G8B8A8_UNORM)?;
            let depth = image(renderer, vk::Format::D32_SFLOAT)?;
            let attachment = |format, store, last| {
                vk::AttachmentDescription::default()
                    .format(format)
                    .samples(vk::SampleCountFlags::TYPE_1)
                    .load_op(vk::AttachmentLoadOp::CLEAR)
                    .store_op(store)
                    .final_layout(last)
            };
            let attachments = [
                attachment(
                    vk::Format::R8G8B8A8_UNORM,
                    vk::AttachmentStoreOp::STORE,
                    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                ),
                attachment(
                    vk::Format::D32_SFLOAT,
                    vk::AttachmentStoreOp::DONT_CARE,
                    vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                ),
            ];
            let to = |i, layout| vk::AttachmentReference::default().attachment(i).layout(layout);
            let colours = [to(0, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
            let depths = to(1, vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
            let subpasses =
                [vk::SubpassDescription::default().color_attachments(&colours).depth_stencil_attachment(&depths)];
            // The picture of the last frame was written and copied before this one is, and this one before it is
            // copied.
            let tests = vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS;
            let drawing = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT | tests;
            let written = vk::AccessFlags::COLOR_ATTACHMENT_WRITE | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE;
            let copying = vk::PipelineStageFlags::TRANSFER;
            let dependencies = [
                vk::SubpassDependency::default()
                    .src_subpass(vk::SUBPASS_EXTERNAL)
                    .src_stage_mask(drawing | copying)
                    .src_access_mask(written)
                    .dst_stage_mask(drawing)
                    .dst_access_mask(written | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ),
                vk::SubpassDependency::default()
                    .dst_subpass(vk::SUBPASS_EXTERNAL)
                    .src_stage_mask(drawing)
                    .src_access_mask(written)
                    .dst_stage_mask(drawing | copying)
                    .dst_access_mask(written | vk::AccessFlags::TRANSFER_READ),
            ];
            let info = vk::RenderPassCreateInfo::default()
                .attachments(&attachments)
                .subpasses(&subpasses)
                .dependencies(&dependencies);
            let pass = device.create_render_pass(&info, None)?;
            let views = [colour.2, depth.2];
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(SIZE[0])
                .height(SIZE[1])
                .layers(1);
            let frame = device.create_framebuffer(&info, None)?;
            let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::VERTEX).size(64)];
            let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
            let layout = device.create_pipeline_layout(&info, None)?;
            let pipeline = pipeline(device, layout, pass)?;
            Ok(Self { renderer, images: [colour, depth], pass, frame, layout, pipeline })
        }
    }

    /// Draws `count` boxes, the bodies from slot `first` on.
    fn draw(&self, commands: vk::CommandBuffer, poses: (vk::Buffer, u64), [first, count]: [u32; 2], clip: &Mat4) {
        let device = &self.renderer.host.device;
        let depth = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
        let clear =
            [vk::ClearValue { color: vk::ClearColorValue { float32: SKY } }, vk::ClearValue { depth_stencil: depth }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.frame)
            .render_area(AREA)
            .clear_values(&clear);
        let clip: Vec<u8> = clip.to_cols_array().into_iter().flat_map(f32::to_le_bytes).collect();
        // SAFETY: the command buffer is being recorded on a queue that draws; the buffer holds that many poses.
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::VERTEX, 0, &clip);
            device.cmd_bind_vertex_buffers(commands, 0, &[poses.0], &[poses.1]);
            device.cmd_draw(commands, 36, count, 0, first);
            device.cmd_end_render_pass(commands);
        }
    }
}

const AREA: vk::Rect2D =
    vk::Rect2D { offset: vk::Offset2D { x: 0, y: 0 }, extent: vk::Extent2D { width: SIZE[0], height: SIZE[1] } };

unsafe fn image(renderer: &Renderer, format: vk::Format) -> Result<(vk::Image, vk::DeviceMemory, vk::ImageView)> {
    let device = &renderer.host.device;
    let (usage, aspect) = if format == vk::Format::D32_SFLOAT {
        (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, vk::ImageAspectFlags::DEPTH)
    } else {
        (vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC, vk::ImageAspectFlags::COLOR)
    };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    // SAFETY: the device is alive; the image is bound once, to memory that fits.
    unsafe {
        let image = device.create_image(&info, None)?;
        let memory = renderer.allocate(device.get_image_memory_requirements(image), Default::default())?;
        device.bind_image_memory(image, memory, 0)?;
        let range = vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        Ok((image, memory, device.create_image_view(&info, None)?))
    }
}

unsafe fn pipeline(device: &ash::Device, layout: vk::PipelineLayout, pass: vk::RenderPass) -> Result<vk::Pipeline> {
    let words = ash::util::read_spv(&mut std::io::Cursor::new(include_bytes!("shaders/boxes.spv")))?;
    // SAFETY: the device is alive; the words are a module; descriptions borrow locals.
    unsafe {
        let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
        let stage = |stage, name| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(name);
        let stages = [stage(vk::ShaderStageFlags::VERTEX, c"corner"), stage(vk::ShaderStageFlags::FRAGMENT, c"pixel")];
        // A pose an instance, as `layout::BodyPose` version 1 lies in memory.
        let bindings = [vk::VertexInputBindingDescription::default()
            .stride(size_of::<BodyPose>() as u32)
            .input_rate(vk::VertexInputRate::INSTANCE)];
        let attribute = |location, format, offset| {
            vk::VertexInputAttributeDescription::default().location(location).format(format).offset(offset)
        };
        let attributes = [
            attribute(0, vk::Format::R32G32B32_SFLOAT, std::mem::offset_of!(BodyPose, position) as u32),
            attribute(1, vk::Format::R32_UINT, std::mem::offset_of!(BodyPose, present) as u32),
            attribute(2, vk::Format::R32G32B32A32_SFLOAT, std::mem::offset_of!(BodyPose, rotation) as u32),
        ];
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let (width, height) = (SIZE[0] as f32, SIZE[1] as f32);
        let viewports = [vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 }];
        let scissors = [AREA];
        let view = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(true)
            .depth_compare_op(vk::CompareOp::LESS);
        let blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&view)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(pass);
        let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
        device.destroy_shader_module(module, None);
        made.map_err(|(_, result)| result)?.first().copied().context("a pipeline")
    }
}

impl Drop for Drawing<'_> {
    fn drop(&mut self) {
        let device = &self.renderer.host.device;
        // SAFETY: everything was waited for.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_framebuffer(self.frame, None);
            device.destroy_render_pass(self.pass, None);
            for (image, memory, view) in self.images {
                device.destroy_image_view(view, None);
                device.destroy_image(image, None);
                device.free_memory(memory, None);
            }
        }
    }
}

/// A floor, which is body 0, and boxes of a metre that lean, spin and fall.
fn world() -> Result<World> {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space()))?;
    for i in 0..BOXES {
        let (x, y, z) = ((i % 50) as f32, (i / 2500) as f32, (i / 50 % 50) as f32);
        let turn = Quat::from_rotation_y(0.37 * i as f32) * Quat::from_rotation_x(0.11 * i as f32);
        let place = Vec3::new(x * 1.9 - 47.0, 1.2 + y * 1.9, z * 1.9 - 47.0);
        let spin = Vec3::new((i % 7) as f32 - 3.0, (i % 5) as f32 - 2.0, (i % 3) as f32 - 1.0);
        world.add(BodyDesc::dynamic().at(place).turned(turn).spinning(spin).with(Collider::cuboid(Vec3::ONE)))?;
    }
    Ok(world)
}

/// The same as in the shader.
fn shaded(body: u32, normal: Vec3) -> [u8; 3] {
    let h = body.wrapping_mul(747_796_405) ^ (body.wrapping_mul(277_803_737) >> 9);
    let light = 0.55 + 0.45 * normal.dot(Vec3::new(-0.4, 0.8, 0.45).normalize());
    [8, 16, 24].map(|shift| (((h >> shift & 255) as f32 / 510.0 + 0.5) * light * 255.0).round() as u8)
}

/// What rays see of the same world, stepped on the CPU.
fn ray_picture(camera: &Camera, settings: Settings) -> Result<Vec<[u8; 3]>> {
    let mut simulation = Simulation::new(world()?, settings, Device::Cpu { threads: None })?;
    for _ in 0..FRAMES {
        simulation.step(DT)?;
    }
    let pixels = (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| [x, y]));
    let rays: Vec<_> = pixels.map(|pixel| camera.ray(pixel, SIZE)).collect();
    let hits = RayCaster::new().cast(&mut simulation, &rays)?;
    let sky = [0, 1, 2].map(|i| (SKY[i] * 255.0).round() as u8);
    // The floor is not drawn.
    let seen = hits.into_iter().map(|hit| hit.filter(|h| h.body.index() > 0));
    Ok(seen.map(|hit| hit.map_or(sky, |h| shaded(h.body.index(), h.normal))).collect())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let renderer = Renderer::new(&arguments.next().unwrap_or_default())?;
    let drawing = Drawing::new(&renderer)?;
    let lane = &renderer.graphics;
    let camera = Camera { eye: Vec3::new(34.0, 16.0, 60.0), target: Vec3::new(0.0, 2.0, 10.0), fov_degrees: 32.0 };
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    // y points down in Vulkan's clip space.
    let clip = Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0))
        * Mat4::perspective_rh(camera.fov_degrees.to_radians(), aspect, 1.0, 500.0)
        * Mat4::look_at_rh(camera.eye, camera.target, Vec3::Y);
    // Nothing stands here yet, so the first step needs no more iterations than others.
    let mut settings = Settings::default();
    settings.set("cold_iterations", 0.0)?;
    // The engine records for the queue that draws.
    let host = renderer.host.clone().with(|h| h.queue_family = lane.family);
    // SAFETY: the renderer outlives the engine's objects, and has enabled the features.
    let (kernels, mut stepper) = unsafe {
        let kernels = Kernels::new(&host)?;
        let memory = GpuAllocator::new(&host)?;
        let capacities = drystone::state::Capacities { pairs: 60_000, manifolds: 30_000, ..Default::default() };
        let options = FramesOptions { frames_in_flight: renderer::IN_FLIGHT as u32, capacities, ..Default::default() };
        let stepper = Stepper::in_frames(&kernels, memory, world()?, settings, options)?;
        (kernels, stepper)
    };
    let bytes = u64::from(SIZE[0] * SIZE[1]) * 4;
    let picture = renderer.host_buffer(bytes, vk::BufferUsageFlags::TRANSFER_DST)?;
    let start = std::time::Instant::now();
    for frame in 1..=FRAMES {
        let commands = renderer.begin(lane, frame)?;
        let prepared = stepper.prepare(DT, renderer.completed(lane)?)?;
        // SAFETY: as the contract asks: one queue, in order, once.
        unsafe { stepper.record(commands, prepared, Some(DRAWING), Some(DRAWING)) };
        let poses = stepper.poses().context("poses")?;
        ensure!(poses.version == 1 && poses.stride == 32, "the vertex shader knows version 1");
        drawing.draw(commands, (poses.current, poses.offset), [1, BOXES], &clip);
        if frame == FRAMES {
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
            let extent = vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: 1 };
            let region = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent)];
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: the picture is in that layout behind the render pass, and the buffer holds it.
            unsafe {
                let image = drawing.images[0].0;
                renderer.host.device.cmd_copy_image_to_buffer(commands, image, layout, picture.buffer, &region);
            }
            let copied = (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE);
            renderer.barrier(commands, copied, (vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ));
        }
        renderer.submit(lane, frame, commands, None)?;
    }
    renderer.wait(lane, FRAMES)?;
    let reports = stepper.poll(FRAMES)?;
    ensure!(stepper.steps() == FRAMES, "steps were left out: {:?}", reports.last().and_then(|r| r.needed));
    println!("{}: {FRAMES} frames of {BOXES} boxes in {:?}", renderer.name, start.elapsed());

    let drawn: Vec<[u8; 3]> = (0..bytes as usize / 4).map(|i| picture.read::<[u8; 4]>(i * 4)).map(first).collect();
    if let Some(path) = arguments.next() {
        let mut encoder = png::Encoder::new(std::fs::File::create(&path)?, SIZE[0], SIZE[1]);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(drawn.as_flattened())?;
        println!("wrote {path}");
    }
    // Boxes turn by a fraction of a degree more or less on another device, and edges fall on one pixel or the next.
    let cast = ray_picture(&camera, settings)?;
    let sky = drawn.first().copied().unwrap_or_default();
    let near = |a: &[u8; 3], b: &[u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 6);
    let same = drawn.iter().zip(&cast).filter(|(a, b)| near(a, b)).count();
    let boxes = drawn.iter().filter(|pixel| !near(pixel, &sky)).count();
    println!("{same} of {} pixels are those that rays see; {boxes} show boxes", drawn.len());
    ensure!(boxes * 3 > drawn.len() && same * 100 > drawn.len() * 99, "the pictures differ");
    drop(stepper);
    drop(kernels);
    Ok(())
}

fn first([r, g, b, _]: [u8; 4]) -> [u8; 3] {
    [r, g, b]
}
