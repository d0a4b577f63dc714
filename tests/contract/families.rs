//! Queue families: what is recorded for one that only computes, and how poses get to another one and back. No driver
//! here has more than one, so the physical device is one that says so (`table.rs`), and nothing is behind it.

use super::recording::Barrier;
use super::table::with_families;
use super::*;
use drystone::vulkan::{OwnDevice, Support};
use std::sync::Arc;
use vk::{AccessFlags as Access, PipelineStageFlags as Stages, QueueFlags};

const GRAPHICS: u32 = 0;
const COMPUTE: u32 = 1;

/// A device with a family for drawing, and one that only computes, which is the host's.
fn two_families() -> (Arc<OwnDevice>, Host) {
    let device = common::open("llvmpipe");
    let all = QueueFlags::GRAPHICS | QueueFlags::COMPUTE | QueueFlags::TRANSFER;
    let host = with_families(device.host(), &[all, QueueFlags::COMPUTE | QueueFlags::TRANSFER]);
    state(|s| s.watches_barriers = true);
    (device, host)
}

/// What a queue that only computes knows (table of supported stages and access in the specification).
fn is_for_compute(barrier: &Barrier) -> bool {
    let stages = Stages::TOP_OF_PIPE
        | Stages::BOTTOM_OF_PIPE
        | Stages::ALL_COMMANDS
        | Stages::DRAW_INDIRECT
        | Stages::COMPUTE_SHADER
        | Stages::TRANSFER
        | Stages::HOST;
    let access = Access::INDIRECT_COMMAND_READ
        | Access::UNIFORM_READ
        | Access::SHADER_READ
        | Access::SHADER_WRITE
        | Access::TRANSFER_READ
        | Access::TRANSFER_WRITE
        | Access::HOST_READ
        | Access::HOST_WRITE
        | Access::MEMORY_READ
        | Access::MEMORY_WRITE;
    barrier.stages.iter().all(|s| stages.contains(*s)) && barrier.access.iter().all(|a| access.contains(*a))
}

const COMMANDS: u64 = 1;
const DRAWN: HostAccess = HostAccess::new(Stages::VERTEX_SHADER, Access::SHADER_READ);

/// Frames with everything that records: poses in the host's buffer, queries, kept frames, growth, a snapshot, going
/// back.
///
/// # Safety
/// The host's device has no driver behind it.
unsafe fn frames(host: &Host, options: &FramesOptions, access: HostAccess) {
    let commands = vk::CommandBuffer::from_raw(COMMANDS);
    // SAFETY: this function's contract.
    unsafe {
        let mut stepper = stepper_with(host, small_world().0, || Ok(Dedicated(host.clone())), options).unwrap();
        let buffer = vk::Buffer::from_raw(7);
        let lent = stepper.lend_pose_buffer(PoseTarget::new(buffer, 64, 48, 9)).unwrap();
        let mut batch = QueryBatch::new();
        batch.ray(Vec3::Y * 9.0, Vec3::NEG_Y, 20.0, QueryFilter::default()).unwrap();
        stepper.reserve_queries(batch.room()).unwrap();
        stepper.keep_frames(2);
        for frame in 1..=6 {
            match frame {
                3 => (0..300).for_each(|i| {
                    let at = Vec3::new(i as f32, 5.0, 5.0);
                    stepper.world_mut().add(BodyDesc::dynamic().at(at).with(Collider::sphere(0.25))).unwrap();
                }),
                5 => stepper.roll_back(3).unwrap(),
                _ => {}
            }
            let prepared = stepper.prepare(DT, frame - 1).unwrap();
            stepper.reserve_snapshot().unwrap();
            assert_eq!(stepper.record(commands, prepared, Some(access), None), frame);
            stepper.record_poses(commands, lent, 0.5, Some(access), Some(access));
            stepper.record_queries(commands, &batch, Some(access)).unwrap();
            stepper.record_snapshot(commands).unwrap();
            stepper.poll(frame).unwrap();
            stepper.poll_queries(frame).unwrap();
            stepper.poll_snapshots(frame).unwrap();
        }
    }
}

#[test]
fn a_queue_that_only_computes_meets_no_stage_or_access_of_graphics() {
    for recorded_once in [false, true] {
        let (_device, host) = two_families();
        // SAFETY: alive.
        let support = unsafe { Support::query(&host.instance, host.physical_device) };
        assert_eq!(support.compute_family(), Some(COMPUTE), "it is preferred");
        let options = FramesOptions { recorded_once, ..Default::default() };
        // As `embed_async` does it: what draws is on another family. As the other examples do it: copies, or anything.
        let copies = HostAccess::new(Stages::TRANSFER, Access::TRANSFER_READ);
        let anything = HostAccess::new(Stages::ALL_COMMANDS, Access::MEMORY_READ);
        for access in [DRAWN.on_family(GRAPHICS), copies, anything] {
            // SAFETY: no driver is behind the host's functions.
            unsafe { frames(&host, &options, access) };
            let seen = state(|s| std::mem::take(&mut s.barriers));
            assert!(seen.len() > 100, "{} barriers", seen.len());
            let handed = seen.iter().filter(|b| !b.buffers.is_empty()).count();
            assert_eq!(handed > 0, access.family.is_some());
            let wrong: Vec<_> = seen.iter().filter(|b| !is_for_compute(b)).collect();
            assert!(wrong.is_empty(), "{wrong:?}");
        }
        // It would be seen: a host that says it draws on this queue gets what it says.
        // SAFETY: as above.
        unsafe { frames(&host, &options, DRAWN) };
        assert!(state(|s| s.barriers.iter().any(|b| !is_for_compute(b))));
        nothing_left("on a queue that only computes");
    }
}

type Handed = (vk::Buffer, u64, u64, [u32; 2]);

/// What was handed over since the last time, barrier by barrier.
fn handed() -> Vec<(Barrier, Vec<Handed>)> {
    let seen = state(|s| std::mem::take(&mut s.barriers));
    seen.into_iter().filter(|b| !b.buffers.is_empty()).map(|b| (b.clone(), b.buffers)).collect()
}

#[test]
fn poses_go_to_the_family_that_draws_and_come_back_also_when_lists_grow() {
    let (_device, host) = two_families();
    let commands = vk::CommandBuffer::from_raw(COMMANDS);
    let (there, back) = ([COMPUTE, GRAPHICS], [GRAPHICS, COMPUTE]);
    let whole = |buffer, families| (buffer, 0, vk::WHOLE_SIZE, families);
    let drawn = Some(DRAWN.on_family(GRAPHICS));
    // SAFETY: no driver is behind the host's functions.
    unsafe {
        let mut stepper = stepper(&host, small_world().0).unwrap();
        let frame = |stepper: &mut InFrames, frame: u64, entry, exit| {
            let prepared = stepper.prepare(DT, frame - 1).unwrap();
            stepper.record(commands, prepared, entry, exit);
            let view = stepper.poses().unwrap();
            (handed(), [view.current, view.previous])
        };
        // Nothing was ever given away: nothing comes back.
        let (seen, poses) = frame(&mut stepper, 1, drawn, drawn);
        let [(release, pieces)] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!(*pieces, poses.map(|p| whole(p, there)));
        assert_eq!(release.stages[1], Stages::BOTTOM_OF_PIPE, "the stages behind it are another queue's");
        assert_eq!(release.access, [Access::SHADER_WRITE | Access::TRANSFER_WRITE, Access::empty()]);
        // The host's halves are the same pieces.
        let hosts = stepper.poses().unwrap().transfer((COMPUTE, GRAPHICS), (Access::empty(), DRAWN.access));
        assert!(hosts.iter().zip(pieces).all(|(b, piece)| (b.buffer, b.offset, b.size) == (piece.0, piece.1, piece.2)));

        let (seen, _) = frame(&mut stepper, 2, drawn, drawn);
        let [(acquire, pieces), (_, released)] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!(*pieces, poses.map(|p| whole(p, back)));
        assert!(acquire.access[0].is_empty() && acquire.access[1].contains(Access::SHADER_WRITE), "{acquire:?}");
        assert_eq!(*released, poses.map(|p| whole(p, there)));

        // Lists grow: the old buffers come back, since they are copied from; the new ones are given away.
        for i in 0..300 {
            let ball = BodyDesc::dynamic().at(Vec3::X * i as f32).with(Collider::sphere(0.25));
            stepper.world_mut().add(ball).unwrap();
        }
        let (seen, grown) = frame(&mut stepper, 3, drawn, drawn);
        assert_ne!(grown, poses);
        let [(_, old), (_, new)] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!(*old, poses.map(|p| whole(p, back)));
        assert_eq!(*new, grown.map(|p| whole(p, there)));

        // Back for good, then frames that share nothing.
        let (seen, _) = frame(&mut stepper, 4, drawn, None);
        assert_eq!(seen.len(), 1, "{seen:?}");
        let (seen, _) = frame(&mut stepper, 5, drawn, Some(DRAWN.on_family(COMPUTE)));
        assert!(seen.is_empty(), "nothing is out, and the host's own family is no other: {seen:?}");

        // Poses in the host's buffer: the bytes from the first to the last, and nothing beside them.
        let target = PoseTarget::new(vk::Buffer::from_raw(7), 64, 48, 9);
        let lent = stepper.lend_pose_buffer(target).unwrap();
        state(|s| s.barriers.clear());
        for _ in 0..2 {
            stepper.record_poses(commands, lent, 1.0, drawn, drawn);
        }
        let seen: Vec<_> = handed().into_iter().flat_map(|(_, pieces)| pieces).collect();
        let piece = |families| (target.buffer, 64, 48 * 8 + 32, families);
        assert_eq!(seen, [piece(there), piece(back), piece(there)]);
        let hosts = target.transfer((COMPUTE, GRAPHICS), (Access::empty(), DRAWN.access));
        assert_eq!((hosts.buffer, hosts.offset, hosts.size), (target.buffer, 64, 48 * 8 + 32));
        drop(stepper);
    }
    nothing_left("after poses were handed over");
}

#[test]
fn buffers_that_families_share_are_made_so_and_never_handed_over() {
    let (_device, host) = two_families();
    let commands = vk::CommandBuffer::from_raw(COMMANDS);
    let made = |shared_with: &[u32]| {
        let options = FramesOptions { shared_with: shared_with.to_vec(), ..Default::default() };
        // SAFETY: no driver is behind the host's functions.
        unsafe { stepper_with(&host, small_world().0, || Ok(Dedicated(host.clone())), &options) }
    };
    for named in [vec![GRAPHICS], vec![GRAPHICS, COMPUTE, GRAPHICS]] {
        let mut stepper = made(&named).unwrap();
        let drawn = Some(DRAWN.on_family(GRAPHICS));
        for grows in [false, true] {
            if grows {
                for i in 0..300 {
                    let ball = BodyDesc::dynamic().at(Vec3::X * i as f32).with(Collider::sphere(0.25));
                    stepper.world_mut().add(ball).unwrap();
                }
            }
            let frame = u64::from(grows);
            let prepared = stepper.prepare(DT, frame).unwrap();
            // SAFETY: as above.
            unsafe { stepper.record(commands, prepared, drawn, drawn) };
            let view = stepper.poses().unwrap();
            for buffer in [view.current, view.previous] {
                let families = state(|s| s.sharing.get(&buffer.as_raw()).cloned());
                assert_eq!(families, Some(vec![COMPUTE, GRAPHICS]), "each family once, the host's first");
            }
        }
        assert!(handed().is_empty() && state(|s| s.barriers.iter().all(is_for_compute)));
    }
    state(|s| s.sharing.clear());
    // The host's own family alone shares with nobody.
    drop(made(&[COMPUTE]).unwrap());
    assert!(state(|s| s.sharing.is_empty()));
    let error = made(&[GRAPHICS, 5]).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "there is no queue family 5 to share buffers with: the device has 2");
    nothing_left("after buffers were shared");
}
