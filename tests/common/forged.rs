//! Bytes that somebody made up: words of all kinds, buffers for them, and snapshots that look whole.

use super::Random;
use drystone::plan::{BufferId, Recording};
use drystone_kernels::state::rigid::Params;
use drystone_kernels::state::soft_pairs::SoftPair;

/// Words of the kinds that go wrong in different ways.
pub fn noise(random: &mut Random, words: usize) -> Vec<u32> {
    let kind = random.below(8);
    let word = |random: &mut Random| match if kind < 6 { kind } else { random.below(6) } {
        0 => random.bits(),
        1 => random.below(300),
        2 => [0, 1, u32::MAX, 1 << 31, u32::MAX - 1, 255, 256, 1 << 30][random.below(8) as usize],
        3 => random.range(-10.0, 10.0).to_bits(),
        4 => random.below(40),
        _ => [0.0, f32::NAN, f32::INFINITY, -0.0, 1e-40, f32::MAX][random.below(6) as usize].to_bits(),
    };
    (0..words).map(|_| word(random)).collect()
}

/// Declares a buffer with elements of `words` words.
pub fn of_words(recording: &mut Recording, name: String, words: u32, count: u64) -> BufferId {
    macro_rules! declared {
        ($($n:literal)*) => {
            match words {
                $($n => recording.buffer::<[u32; $n]>(name, count).unwrap().id(),)*
                _ if words as usize * 4 == size_of::<Params>() => recording.buffer::<Params>(name, count).unwrap().id(),
                _ if words as usize * 4 == size_of::<SoftPair>() => {
                    recording.buffer::<SoftPair>(name, count).unwrap().id()
                }
                _ => panic!("elements of {words} words"),
            }
        };
    }
    declared!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
}

/// The checksum as the format has it, so that forged bytes can have the right one.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |h: u64, word: u64| {
        let h = (h ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^ (h >> 29)
    };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
    let mut lanes = [1, 2, 3, 4];
    let whole = bytes.len() / 32 * 32;
    for (i, part) in bytes[..whole].chunks(8).enumerate() {
        lanes[i % 4] = mix(lanes[i % 4], word(part));
    }
    let rest = bytes[whole..].chunks(8).fold(bytes.len() as u64, |h, part| mix(h, word(part)));
    lanes.into_iter().fold(rest, mix)
}

/// Gives forged bytes the length and the checksum that they should have.
pub fn seal(bytes: &mut [u8]) {
    if bytes.len() < 28 {
        return;
    }
    let length = bytes.len() as u64;
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    let end = bytes.len() - 8;
    let sum = checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}
