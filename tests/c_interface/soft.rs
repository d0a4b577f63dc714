//! Soft bodies from C: added, held, met by rays, read on the CPU and drawn in a host's frames.

use super::*;

/// A square of cloth of 4 by 4 particles at a height of 2, a tetrahedron beside it, and a spring.
struct Mesh {
    rest: Vec<f32>,
    triangles: Vec<u32>,
}

fn mesh() -> Mesh {
    let mut rest: Vec<f32> = (0..16).flat_map(|i| [(i % 4) as f32 * 0.25, 2.0, (i / 4) as f32 * 0.25]).collect();
    rest.extend([2.0, 1.0, 0.0, 2.5, 1.0, 0.0, 2.0, 1.5, 0.0, 2.0, 1.0, 0.5]);
    let cell = |i: u32, j: u32| {
        let a = i + 4 * j;
        [a, a + 1, a + 5, a, a + 5, a + 4]
    };
    let triangles = (0..3).flat_map(|j| (0..3).flat_map(move |i| cell(i, j))).collect();
    Mesh { rest, triangles }
}

#[test]
fn soft_bodies_are_added_held_read_met_and_drawn() {
    let device = open("llvmpipe");
    let mesh = mesh();
    let (tetrahedra, springs, values) = ([16u32, 17, 18, 19], [0u32, 16], [2.3f32, 50.0, 0.1]);
    // SAFETY: structs and lists are whole, and alive during the calls.
    unsafe {
        let entry = ash::Entry::load().unwrap();
        let mut kernels = null_mut();
        done(drystone_kernels_create(&lent(&device, &entry), &mut kernels));
        let (mut stepper, mut cpu) = (null_mut(), null_mut());
        done(drystone_stepper_create_vulkan(kernels, null(), &mut stepper));
        done(drystone_stepper_create_cpu(null(), &mut cpu));
        let mut desc = sized::<DrystoneSoftDesc>();
        done(drystone_soft_defaults(&mut desc));
        desc.particle_count = 20;
        desc.rest = mesh.rest.as_ptr();
        (desc.triangles, desc.triangle_count) = (mesh.triangles.as_ptr(), 18);
        (desc.tetrahedra, desc.tetrahedron_count) = (tetrahedra.as_ptr(), 1);
        (desc.springs, desc.spring_values, desc.spring_count) = (springs.as_ptr(), values.as_ptr(), 1);
        let mut soft = 0;
        for (wrong, result, words) in [
            (DrystoneSoftDesc { rest: null(), ..desc }, DrystoneResult::ErrorPointer, "DrystoneSoftDesc.rest"),
            (DrystoneSoftDesc { particle_count: 10, ..desc }, DrystoneResult::ErrorValue, "10"),
            (DrystoneSoftDesc { young: -1.0, ..desc }, DrystoneResult::ErrorValue, "mu"),
            (DrystoneSoftDesc { meets_soft: 2, ..desc }, DrystoneResult::ErrorValue, "meets_soft"),
            (DrystoneSoftDesc { struct_size: 5, ..desc }, DrystoneResult::ErrorStructSize, "DrystoneSoftDesc"),
        ] {
            refused(drystone_add_soft(cpu, &wrong, &mut soft), result, words);
            assert_eq!(soft, 0);
        }
        let mut of_frames = 0;
        done(drystone_add_soft(cpu, &desc, &mut soft));
        done(drystone_add_soft(stepper, &desc, &mut of_frames));
        let mut held = sized::<DrystoneAttachmentDesc>();
        done(drystone_attachment_defaults(&mut held));
        let mut attachment = 0;
        for (world, soft) in [(cpu, soft), (stepper, of_frames)] {
            for particle in [0, 3] {
                let desc = DrystoneAttachmentDesc { soft, particle, ..held };
                done(drystone_attach(world, &desc, &mut attachment));
            }
        }
        held.soft = soft;
        let nobody = DrystoneAttachmentDesc { particle: 20, ..held };
        refused(drystone_attach(cpu, &nobody, &mut attachment), DrystoneResult::ErrorValue, "20");
        let (mut count, mut slot, mut first) = (0, 9, 9);
        done(drystone_soft_triangles(cpu, soft, null_mut(), 0, &mut count));
        assert_eq!(count, 18 + 4);
        let mut corners = vec![u32::MAX; 66];
        let short = drystone_soft_triangles(cpu, soft, corners.as_mut_ptr(), 21, &mut count);
        refused(short, DrystoneResult::ErrorValue, "room for 21");
        done(drystone_soft_triangles(cpu, soft, corners.as_mut_ptr(), 22, &mut count));
        assert!(corners[..54] == mesh.triangles[..] && corners.iter().all(|c| *c < 20));
        done(drystone_soft_slot(cpu, soft, &mut slot, &mut first));
        assert_eq!((slot, first), (0, 0));

        let mut queue = Queue::new(device.host(), device.queue()).unwrap();
        for step in 1..=4 {
            done(drystone_prepare(stepper, 1.0 / 60.0, step - 1));
            let record = |commands| done(drystone_record(stepper, commands, null(), null(), null_mut()));
            let value = queue.submit(&[], &[], record);
            queue.wait(value.unwrap(), Duration::from_secs(60)).unwrap();
            done(drystone_prepare(cpu, 1.0 / 60.0, 0));
            done(drystone_run(cpu, null_mut()));
        }
        let mut view = sized::<DrystoneSoftVertexView>();
        done(drystone_soft_vertices(stepper, &mut view));
        assert_eq!((view.version, view.stride, view.offset), (DRYSTONE_SOFT_VERTEX_VERSION, 32, 0));
        assert!(view.count >= 20 && view.current != view.previous && view.current != vk::Handle::from_raw(0));
        refused(drystone_soft_vertices(cpu, &mut view), DrystoneResult::ErrorBackend, "frames");

        let (mut positions, mut velocities) = (vec![0.0f32; 60], vec![0.0f32; 60]);
        let state = drystone_soft_state(cpu, soft, positions.as_mut_ptr(), null_mut(), 19);
        refused(state, DrystoneResult::ErrorValue, "room for 19");
        done(drystone_soft_state(cpu, soft, positions.as_mut_ptr(), velocities.as_mut_ptr(), 20));
        assert!((positions[1] - 2.0).abs() < 1e-3, "held: {}", positions[1]);
        assert!(positions[46] < 1.99 && velocities[46] < -0.2, "falls: {}, {}", positions[46], velocities[46]);

        // The ray meets the cloth when it asks for it.
        let mut ray = sized::<DrystoneQuery>();
        done(drystone_query_defaults(&mut ray));
        (ray.position, ray.direction) = ([0.3, 5.0, 0.3], [0.0, -1.0, 0.0]);
        let rays = [ray, DrystoneQuery { soft: 1, ..ray }];
        done(drystone_query(cpu, rays.as_ptr(), 2));
        let mut hit = sized::<DrystoneHit>();
        assert_eq!(drystone_query_hit(cpu, 0, 0, &mut hit, null_mut()), DrystoneResult::Nothing);
        done(drystone_query_hit(cpu, 1, 0, &mut hit, &mut count));
        assert_eq!((hit.soft, hit.body, count), (soft, 0, 1));
        assert!(hit.collider < 18 && (2.9..3.1).contains(&hit.distance) && hit.normal[1] > 0.9, "{hit:?}");

        done(drystone_set_particle_force(cpu, soft, 5, [0.0, 1.0, 0.0].as_ptr()));
        done(drystone_detach(cpu, {
            let again = DrystoneAttachmentDesc { particle: 15, ..held };
            done(drystone_attach(cpu, &again, &mut attachment));
            attachment
        }));
        refused(drystone_detach(cpu, attachment), DrystoneResult::ErrorStale, "attachment");
        done(drystone_remove_soft(cpu, soft));
        refused(drystone_remove_soft(cpu, soft), DrystoneResult::ErrorStale, "soft body");
        refused(drystone_remove_soft(cpu, 0), DrystoneResult::ErrorStale, "names none");
        drop(queue);
        done(drystone_stepper_destroy(stepper));
        done(drystone_stepper_destroy(cpu));
        done(drystone_kernels_destroy(kernels));
    }
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}
