//! The wide stages, `primal` and `dual`, in every native form on a warm state of a pile: eight floats with AVX, eight
//! without, and one, which is a point or a body, as a GPU runs them.
//!
//! Eight floats give equal bits with AVX and without. `dual` treats points one by one, so one gives the same bits, too.
//! `primal` adds up a body's manifolds two at a time with eight floats, and point by point with one: other last bits.

use drystone::backend::{Device, Runner};
use drystone::cpu::Cpu;
use drystone::plan::{BufferId, Command, Groups, Recording};
use drystone::{Settings, Simulation, scenes};
use drystone_kernels::gpu::{Call, RawBuffer, Wide};
use drystone_kernels::solve::{dual, primal};
use std::ops::Range;

/// Largest difference between one float and eight, in metres and radians: rounding of forces, over the stiffness.
const NEAR: f32 = 1e-6;

/// A way to run workgroups of a stage.
type Form = unsafe fn(Call<'_>, Range<u32>);

/// Buffers in memory that is aligned as stages want it.
#[derive(Clone, PartialEq)]
struct Image(Vec<Vec<u128>>);

impl Image {
    fn read(runner: &mut dyn Runner) -> Self {
        let sizes: Vec<u64> = runner.recording().buffers().iter().map(|b| b.size()).collect();
        let read = |(id, size): (u32, u64)| {
            let mut words = vec![0u128; size.div_ceil(16) as usize];
            let info = &runner.recording().buffers()[id as usize];
            let bytes = (u64::from(info.stride) * info.count) as usize;
            runner.read_bytes(BufferId(id), 0, &mut bytemuck::cast_slice_mut(&mut words)[..bytes]).unwrap();
            words
        };
        Self((0..).zip(sizes).map(read).collect())
    }

    fn words(&self, buffer: BufferId) -> &[u32] {
        bytemuck::cast_slice(&self.0[buffer.0 as usize])
    }
}

/// What command `number` makes of `before` in one form.
fn run(recording: &Recording, number: usize, before: &Image, form: Form) -> Image {
    let Command::Dispatch { invocation, groups } = &recording.commands()[number] else { panic!("no dispatch") };
    let count = match *groups {
        Groups::Direct(count) => count,
        Groups::Indirect { args, index } => {
            let [x, y, _] = before.words(args)[3 * index as usize..][..3] else { panic!("three words") };
            x * y
        }
        _ => panic!("groups that are new here"),
    };
    assert!(count > 0, "command {number} has something to do");
    let mut after = before.clone();
    let mut raw = |id: &BufferId| {
        let info = recording.info(*id).unwrap();
        let memory = &mut after.0[id.0 as usize];
        RawBuffer { start: memory.as_mut_ptr().cast(), size: (u64::from(info.stride) * info.count) as usize }
    };
    let buffers: Vec<_> = invocation.buffers.iter().map(&mut raw).collect();
    // SAFETY: a live, aligned buffer for every binding, as large as the recording says, and no other thread.
    unsafe { form(Call { push: &invocation.push, buffers: &buffers }, 0..count) };
    after
}

/// A warm pile, cut before the first command of `stage` that has something to do: its recording, command and state.
fn cut(stage: &str) -> (Recording, usize, Image) {
    let settings = Settings::default().with(|s| s.iterations = 2);
    let world = scenes::pile(300, 15).unwrap();
    let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: None }).unwrap();
    for _ in 0..20 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    let recording = simulation.plan().recording.clone();
    let state = Image::read(simulation.runner());
    let number = recording.commands().iter().position(|c| c.name() == stage).unwrap();
    let mut runner = Cpu::new(recording.first(number), None).unwrap();
    for (id, info) in (0..).zip(recording.buffers()) {
        let bytes: &[u8] = bytemuck::cast_slice(&state.0[id as usize]);
        runner.write_bytes(BufferId(id), 0, &bytes[..(u64::from(info.stride) * info.count) as usize]).unwrap();
    }
    runner.run().unwrap();
    (recording, number, Image::read(&mut runner))
}

fn differing(a: &Image, b: &Image) -> usize {
    a.0.iter().zip(&b.0).filter(|(a, b)| a != b).count()
}

#[test]
fn primal_has_equal_bits_with_avx_and_without_and_is_near_with_one_body_a_lane() {
    let (recording, number, before) = cut("primal");
    let best = run(&recording, number, &before, primal::STAGE.run);
    let plain = run(&recording, number, &before, primal::native::<Wide>);
    let narrow = run(&recording, number, &before, primal::native::<f32>);
    assert!(differing(&best, &before) >= 2, "rotations and ways are written");
    assert!(best == plain, "with AVX and without");
    assert!(narrow != best, "sums in another order show that it is another form");
    for ((narrow, best), info) in narrow.0.iter().zip(&best.0).zip(recording.buffers()) {
        let (narrow, best): (&[f32], &[f32]) = (bytemuck::cast_slice(narrow), bytemuck::cast_slice(best));
        for (i, (n, b)) in narrow.iter().zip(best).enumerate() {
            let near = n.to_bits() == b.to_bits() || (n - b).abs() <= NEAR;
            assert!(near, "word {i} of {}: {n} with one body a lane, {b} with eight", info.name);
        }
    }
}

#[test]
fn dual_has_equal_bits_in_every_form() {
    let (recording, number, before) = cut("dual");
    let best = run(&recording, number, &before, dual::STAGE.run);
    assert!(differing(&best, &before) >= 1, "multipliers are written");
    assert!(best == run(&recording, number, &before, dual::native::<Wide>), "with AVX and without");
    assert!(best == run(&recording, number, &before, dual::native::<f32>), "eight floats and one");
}
