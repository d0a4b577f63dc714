//! Recordings of any stages over any buffers with any push constants, and bytes of any kind in them: the CPU backend
//! reads zeros and writes nowhere beyond a buffer, and comes to an end.

use super::{Outcome, Reached};
use crate::common::Random;
use crate::common::forged::{noise, of_words};
use drystone::backend::Runner;
use drystone::cpu::Cpu;
use drystone::kernels::STAGES;
use drystone::layout::DispatchArgs;
use drystone::plan::{Buffer, BufferId, Recording};
use drystone_kernels::gpu::Invocation;

/// One thread, and two: threads are not started for every case.
#[derive(Default)]
pub struct Runners([Option<Cpu>; 2]);

impl Runners {
    /// A runner of a recording: a new one, or one that had another recording before.
    fn load(&mut self, recording: Recording, threads: usize, fresh: bool) -> &mut Cpu {
        let kept = &mut self.0[threads - 1];
        match kept {
            Some(runner) if !fresh => runner.replace(recording).unwrap(),
            _ => *kept = Some(Cpu::new(recording, Some(threads)).unwrap()),
        }
        kept.as_mut().unwrap()
    }
}

pub fn case(seed: u64, random: &mut Random, runners: &mut Runners, fresh: bool, reached: &mut Reached) -> Outcome {
    let mut recording = Recording::new("noise");
    let args: Buffer<DispatchArgs> = recording.dispatch_args("args", 3).unwrap();
    let mut pool: Vec<(u32, BufferId)> = Vec::new();
    let mut accepted = false;
    for n in 0..=random.below(3) {
        let stage = &STAGES[random.below(STAGES.len() as u32) as usize];
        let mut buffers = Vec::new();
        for (b, binding) in stage.bindings.iter().enumerate() {
            let words = binding.stride / 4;
            // Buffers of earlier stages too, and the same one for two bindings.
            let known: Vec<_> = pool.iter().filter(|p| p.0 == words).map(|p| p.1).collect();
            let buffer = match known.get(random.below(known.len() as u32 * 2 + 1) as usize) {
                Some(buffer) => *buffer,
                None => {
                    let count = [0, 1, 3, 70, 150][random.below(5) as usize];
                    let buffer = of_words(&mut recording, format!("{n}.{b}"), words, count);
                    pool.push((words, buffer));
                    buffer
                }
            };
            buffers.push(buffer);
        }
        let push = bytemuck::cast_slice(&noise(random, stage.push_size as usize / 4)).to_vec();
        let invocation = Invocation { stage, buffers, push };
        let done = match random.below(4) {
            0 => recording.dispatch_indirect(args, random.below(4), invocation),
            _ => recording.dispatch(u64::from(random.below(6)), invocation),
        };
        accepted |= done.is_ok();
        let any = |random: &mut Random| pool[random.below(pool.len() as u32) as usize].1;
        let (one, two) = (Buffer::<u32>::new(any(random)), Buffer::<u32>::new(any(random)));
        let (from, to) = (u64::from(random.below(80)), u64::from(random.below(80)));
        let _ = recording.fill(one, from..to, random.bits());
        let _ = recording.copy((one, from), (two, to), u64::from(random.below(40)));
    }
    if !accepted {
        return Outcome::Refused;
    }
    reached.note(&recording);
    let runner = runners.load(recording, 1 + (seed % 2) as usize, fresh);
    let sizes: Vec<u64> = runner.recording().buffers().iter().map(|b| b.capacity()).collect();
    for (buffer, size) in (0..).zip(sizes) {
        let words = noise(random, size as usize / 4);
        runner.write_bytes(BufferId(buffer), 0, bytemuck::cast_slice(&words)).unwrap();
    }
    runner.run().map(drop).unwrap();
    Outcome::Accepted
}
