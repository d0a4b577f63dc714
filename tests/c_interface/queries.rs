//! Queries from C: in a host's frames, whose poses another queue family has between them, and on the CPU.

use super::*;

#[test]
fn queries_are_answered_in_frames_as_on_the_cpu_and_poses_go_to_another_queue_family() {
    let device = open("llvmpipe");
    // SAFETY: as above.
    unsafe {
        let entry = ash::Entry::load().unwrap();
        let mut kernels = null_mut();
        done(drystone_kernels_create(&lent(&device, &entry), &mut kernels));
        let (mut stepper, mut cpu) = (null_mut(), null_mut());
        done(drystone_stepper_create_vulkan(kernels, null(), &mut stepper));
        done(drystone_stepper_create_cpu(null(), &mut cpu));
        let (ball, ball_on_cpu) = (build(stepper), build(cpu));
        let mut shape = sized::<DrystoneCollider>();
        done(drystone_collider_defaults(&mut shape));
        (shape.shape, shape.half, shape.radius) = (DrystoneShape::Box as u32, [0.25; 3], 0.25);
        let asks = |kind: DrystoneQueryKind, position: [f32; 3], direction: [f32; 3]| {
            let mut query = sized::<DrystoneQuery>();
            done(drystone_query_defaults(&mut query));
            (query.kind, query.position, query.direction) = (kind as u32, position, direction);
            query
        };
        let with_shape = |query: DrystoneQuery| DrystoneQuery { shape: &raw const shape, ..query };
        use DrystoneQueryKind::{Cast, Closest, Overlap, Ray};
        let down = [0.0, -1.0, 0.0];
        let queries = |ball: DrystoneBody| {
            [
                asks(Ray, [0.1, 9.0, 0.1], down),
                with_shape(asks(Cast, [3.0, 9.0, 0.0], [0.0, -8.0, 0.0])),
                DrystoneQuery { exclude: ball, ..with_shape(asks(Cast, [3.0, 9.0, 0.0], [0.0, -9.0, 0.0])) },
                with_shape(asks(Overlap, [0.0, 1.0, 0.0], [0.0; 3])),
                asks(Closest, [2.0, 0.5, 0.0], [0.0; 3]),
                DrystoneQuery { reach: 1.0, ..asks(Ray, [50.0, 9.0, 0.0], down) },
            ]
        };
        let of_stepper = queries(ball);
        let count = of_stepper.len() as u32;
        // Refusals by name.
        refused(drystone_query(stepper, of_stepper.as_ptr(), count), DrystoneResult::ErrorBackend, "CPU");
        let mut frame = 0;
        let commands: VkCommandBuffer = vk::Handle::from_raw(8);
        let early = drystone_record_queries(stepper, commands, of_stepper.as_ptr(), count, null(), &mut frame);
        refused(early, DrystoneResult::ErrorValue, "reserve_queries");
        for (wrong, words) in [
            (DrystoneQuery { kind: 9, ..of_stepper[0] }, "DrystoneQuery.kind is 9"),
            (DrystoneQuery { sensors: 2, ..of_stepper[0] }, "DrystoneQuery.sensors"),
            (DrystoneQuery { direction: [0.0; 3], ..of_stepper[0] }, "direction has no length"),
            (DrystoneQuery { shape: &raw const shape, ..of_stepper[0] }, "a ray has no shape"),
            (DrystoneQuery { reach: f32::NAN, ..of_stepper[0] }, "reach"),
        ] {
            refused(drystone_query(cpu, &wrong, 1), DrystoneResult::ErrorValue, words);
        }
        let shapeless = DrystoneQuery { shape: null(), ..of_stepper[1] };
        refused(drystone_query(cpu, &shapeless, 1), DrystoneResult::ErrorPointer, "queries[0].shape");
        let no_body = drystone_query(cpu, &DrystoneQuery { exclude: 99 << 32 | 100, ..of_stepper[0] }, 1);
        refused(no_body, DrystoneResult::ErrorStale, "body");

        let room = DrystoneQueryRoom { rays: 2, casts: 2, overlaps: 1, overlap_hits: 8, closest: 1, ..sized() };
        done(drystone_reserve_queries(stepper, &room));
        let mut queue = Queue::new(device.host(), device.queue()).unwrap();
        // The poses are with another owner between frames: what is outside of the device stands for another family.
        let copies = vk::PipelineStageFlags::TRANSFER.as_raw();
        let outside = DrystoneAccess {
            stages: copies,
            access: vk::AccessFlags::TRANSFER_READ.as_raw(),
            transfer: 1,
            queue_family: vk::QUEUE_FAMILY_EXTERNAL,
            ..sized()
        };
        let wrong = DrystoneAccess { transfer: 2, ..outside };
        let unclear = drystone_record(stepper, commands, &wrong, null(), null_mut());
        refused(unclear, DrystoneResult::ErrorValue, "`entry`: transfer is 2");
        for step in 1..=3 {
            done(drystone_prepare(stepper, 1.0 / 60.0, step - 1));
            let value = queue.submit(&[], &[], |commands| {
                done(drystone_record(stepper, commands, &outside, &outside, null_mut()));
                if step == 3 {
                    let list = of_stepper.as_ptr();
                    done(drystone_record_queries(stepper, commands, list, count, null(), &mut frame));
                }
            });
            queue.wait(value.unwrap(), Duration::from_secs(60)).unwrap();
            done(drystone_prepare(cpu, 1.0 / 60.0, 0));
            done(drystone_run(cpu, null_mut()));
        }
        assert_eq!(frame, 3);
        assert_eq!(drystone_poll_queries(stepper, 2, &mut frame), DrystoneResult::Nothing);
        done(drystone_poll_queries(stepper, 3, &mut frame));
        assert_eq!(frame, 3);
        assert_eq!(drystone_poll_queries(stepper, 3, &mut frame), DrystoneResult::Nothing, "told once");
        done(drystone_query(cpu, queries(ball_on_cpu).as_ptr(), count));
        let answers = |stepper, query, item| {
            let (mut hit, mut there) = (sized::<DrystoneHit>(), 0);
            let result = drystone_query_hit(stepper, query, item, &mut hit, &mut there);
            (result, there, hit)
        };
        for query in 0..count {
            let items = if query == 3 { 3 } else { 1 };
            for item in 0..items {
                let (of_frames, of_cpu) = (answers(stepper, query, item), answers(cpu, query, item));
                assert_eq!((of_frames.0, of_frames.1), (of_cpu.0, of_cpu.1), "{query} {item}");
                // The same body of two worlds: their handles differ in what tells the worlds apart.
                let slots = (of_frames.2.body as u32, of_cpu.2.body as u32);
                assert_eq!((slots.0, of_frames.2.collider), (slots.1, of_cpu.2.collider));
                assert!((of_frames.2.distance - of_cpu.2.distance).abs() < 1e-4, "{query}: {:?}", of_frames.2);
            }
        }
        let (result, there, hit) = answers(cpu, 0, 0);
        assert_eq!((result, there), (DrystoneResult::Ok, 1));
        assert!((hit.point[1] - 3.0).abs() < 0.05 && (hit.normal[1] - 1.0).abs() < 1e-3, "{hit:?}");
        assert_eq!(answers(cpu, 1, 0).2.body, ball_on_cpu);
        assert_ne!(answers(cpu, 2, 0).2.body, ball_on_cpu, "it is not seen");
        assert_eq!(answers(cpu, 3, 0).1, 2, "two boxes of the tower");
        assert_eq!(answers(cpu, 3, 2).0, DrystoneResult::Nothing);
        assert!((answers(cpu, 4, 0).2.distance - 0.5).abs() < 0.02, "the floor is nearest");
        assert_eq!((answers(cpu, 5, 0).0, answers(cpu, 5, 0).1), (DrystoneResult::Nothing, 0));
        refused(answers(cpu, 6, 0).0, DrystoneResult::ErrorValue, "there is no query 6");
        let too_many = [of_stepper[0]; 3];
        let more = drystone_record_queries(stepper, commands, too_many.as_ptr(), 3, null(), null_mut());
        refused(more, DrystoneResult::ErrorValue, "3 rays, and there is room for 2");
        drop(queue);
        done(drystone_stepper_destroy(stepper));
        done(drystone_stepper_destroy(cpu));
        done(drystone_kernels_destroy(kernels));
    }
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}
