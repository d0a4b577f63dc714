//! The contact manifold of two colliders as the solver uses it: up to four points that share a normal.
//!
//! What the iterations need is one record of [`word::COUNT`] vectors of four words, three cache lines: ten vectors with
//! one word of each point ([`FourPoints`]), and two with what the points have in common ([`Head`]). A lane loads one
//! word of all four points at once. Everything else is in [`Manifold`], and the features of the points in a list of
//! their own.

use crate::detect::collide::Contact;
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Local, Store, Window, WindowMut};
#[cfg(not(target_arch = "spirv"))]
use crate::gpu::{Word, Words};
use crate::layout;
use crate::math::{vector, words};
use crate::state::rigid::Friction;

layout! {
    /// Who touches whom.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct ManifoldEnds {
        /// The colliders.
        pub collider_a: u32,
        /// The colliders.
        pub collider_b: u32,
        /// Their bodies.
        pub body_a: u32,
        /// Their bodies.
        pub body_b: u32,
    }

    /// What is not needed in every pass over a manifold.
    pub struct Manifold {
        /// Who touches whom.
        pub ends: ManifoldEnds,
        /// One unit of stiffness: the reduced mass of the two bodies over dt squared.
        pub unit: f32,
        /// Number of points.
        pub count: u32,
    }
}

/// Offsets of the vectors in a manifold's record.
pub mod word {
    /// Levers of the points.
    pub const LEVER: u32 = 0;
    /// Gaps.
    pub const GAP: u32 = 3;
    /// Multipliers.
    pub const LAMBDA: u32 = 6;
    /// Stiffness.
    pub const K: u32 = 9;
    /// The normal, and the length that errors are measured against.
    pub const NORMAL: u32 = 10;
    /// Vector from body to body, and friction.
    pub const OFFSET: u32 = 11;
    /// Number of vectors.
    pub const COUNT: u32 = 12;
}

/// Where the record of a manifold begins.
#[inline(always)]
pub fn record(manifold: u32) -> u32 {
    manifold.wrapping_mul(word::COUNT)
}

/// Meaning of each of the 4 [`word::COUNT`] words of a manifold's record.
#[cfg(not(target_arch = "spirv"))]
pub fn record_words() -> Vec<Word> {
    let four = |name: String| (0..4).flat_map(move |point| f32::within(&format!("{name}.{point}")));
    let vectors = |name: &str| ["x", "y", "z"].map(|axis| format!("{name}.{axis}")).into_iter().flat_map(four);
    let points = vectors("lever").chain(vectors("gap")).chain(vectors("lambda")).chain(four("k".to_owned()));
    let head = [Vec3::within("normal"), f32::within("length"), Vec3::within("offset"), u32::within("friction")];
    points.chain(head.concat()).collect()
}
/// The record of a manifold, in a list that is only read.
pub type Record<'a> = Window<'a, UVec4, { word::COUNT }>;

/// The same in a list that is written.
pub type RecordMut<'a> = WindowMut<'a, UVec4, { word::COUNT }>;

/// What the points of a manifold have in common.
#[derive(Clone, Copy)]
pub struct Head {
    /// Unit normal, from b to a.
    pub normal: Vec3,
    /// Length that errors are measured against: half the longest side of the smaller collider, metres.
    pub length: f32,
    /// From b's centre of mass to a's, at the start of the step.
    pub offset: Vec3,
    /// Coefficients of the pair.
    pub friction: Friction,
    /// Whether its surfaces move by themselves or resist turning: see [`Surface`](crate::solve::surface::Surface).
    pub driven: bool,
    /// Which colliders are round about their body's centre of mass, and so touch with ever new points at the same
    /// place: [`ROUND_A`] and [`ROUND_B`].
    pub round: u32,
}

/// Flag stored in the sign bit of the length, which is never negative.
pub const DRIVEN: u32 = 1 << 31;
/// Flag stored in the lowest bits of the length, whose precision is not needed: the first collider is round.
pub const ROUND_A: u32 = 1;
/// The second collider is round.
pub const ROUND_B: u32 = 2;

impl Head {
    /// Unpacks the head of the record that begins at `first`.
    #[inline(always)]
    pub fn load(points: &impl Load<UVec4>, first: u32) -> Self {
        let (n, o) = (points.at(first.wrapping_add(word::NORMAL)), points.at(first.wrapping_add(word::OFFSET)));
        Self {
            normal: vector(n),
            length: f32::from_bits(n.w & !(DRIVEN | ROUND_A | ROUND_B)),
            offset: vector(o),
            friction: Friction { fixed: unpack(o.w & 0xffff), sliding: unpack(o.w >> 16) },
            driven: n.w & DRIVEN != 0,
            round: n.w & (ROUND_A | ROUND_B),
        }
    }

    /// Packs it into the record that begins at `first`.
    #[inline(always)]
    pub fn store(&self, points: &mut impl Store<UVec4>, first: u32) {
        let friction = pack(self.friction.fixed) | pack(self.friction.sliding) << 16;
        let length = self.length.to_bits() & !(ROUND_A | ROUND_B) | self.round;
        let length = length | if self.driven { DRIVEN } else { 0 };
        points.put(first.wrapping_add(word::NORMAL), words(self.normal, length));
        points.put(first.wrapping_add(word::OFFSET), words(self.offset, friction));
    }
}

/// Float bits that [`pack`] maps to 0. Coefficients above 1/32,768 and up to 131,040 are kept to 1/4,096 of their
/// value.
const EXPONENT: u32 = (127 - 15) << 23;

/// A coefficient of friction in 16 bits: five bits of exponent, eleven of fraction. Smaller ones become 0, larger ones
/// the largest.
#[inline(always)]
fn pack(v: f32) -> u32 {
    // Adds half of the last bit that is kept, to round.
    let bits = v.to_bits().wrapping_add(1 << 11);
    if bits < EXPONENT {
        0
    } else if (bits - EXPONENT) >> 12 > 0xffff {
        0xffff
    } else {
        (bits - EXPONENT) >> 12
    }
}

#[inline(always)]
fn unpack(bits: u32) -> f32 {
    if bits == 0 { 0.0 } else { f32::from_bits((bits << 12) + EXPONENT) }
}

/// A contact point while it is solved. Rows are in the order tangent, bitangent, normal.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "spirv"), derive(Debug, Default, PartialEq))]
pub struct Point {
    /// From a's centre of mass to the point on a, at the start of the step.
    pub lever: Vec3,
    /// Position of a's point relative to b's at the start of the step, along both tangents and the normal, metres.
    pub gap: Vec3,
    /// Multipliers, newtons; the normal one is negative when the contact pushes.
    pub lambda: Vec3,
    /// Stiffness of all three rows, N/m; 0 if there is no such point, negative if it slid at the end of the last step.
    pub k: f32,
}

/// The four points of a manifold.
#[derive(Clone, Copy)]
pub struct FourPoints {
    lever: Local<Vec3, 4>,
    gap: Local<Vec3, 4>,
    lambda: Local<Vec3, 4>,
    k: Local<f32, 4>,
}

impl FourPoints {
    /// No points: forces and stiffness are zero.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = Local::splat(Vec3::ZERO);
        Self { lever: zero, gap: zero, lambda: zero, k: Local::splat(0.0) }
    }

    /// Point `k`.
    #[inline(always)]
    pub fn at(&self, k: u32) -> Point {
        Point { lever: self.lever.at(k), gap: self.gap.at(k), lambda: self.lambda.at(k), k: self.k.at(k) }
    }

    /// Replaces point `k`.
    #[inline(always)]
    pub fn put(&mut self, k: u32, point: &Point) {
        self.lever.put(k, point.lever);
        self.gap.put(k, point.gap);
        self.lambda.put(k, point.lambda);
        self.k.put(k, point.k);
    }

    /// Loads the points of the record that begins at `first`.
    #[inline(always)]
    pub fn load(points: &impl Load<UVec4>, first: u32) -> Self {
        let vectors = |word: u32| {
            let at = |word: u32| points.at(first.wrapping_add(word));
            let (x, y, z) = (at(word), at(word + 1), at(word + 2));
            let vector = |x, y, z| Vec3::new(f32::from_bits(x), f32::from_bits(y), f32::from_bits(z));
            Local::of([vector(x.x, y.x, z.x), vector(x.y, y.y, z.y), vector(x.z, y.z, z.z), vector(x.w, y.w, z.w)])
        };
        let k = points.at(first.wrapping_add(word::K));
        Self {
            lever: vectors(word::LEVER),
            gap: vectors(word::GAP),
            lambda: vectors(word::LAMBDA),
            k: Local::of([f32::from_bits(k.x), f32::from_bits(k.y), f32::from_bits(k.z), f32::from_bits(k.w)]),
        }
    }

    /// Stores them into the record that begins at `first`.
    #[inline(always)]
    pub fn store(&self, points: &mut impl Store<UVec4>, first: u32) {
        let mut put = |word: u32, a: f32, b: f32, c: f32, d: f32| {
            points.put(first.wrapping_add(word), UVec4::new(a.to_bits(), b.to_bits(), c.to_bits(), d.to_bits()));
        };
        put(word::K, self.k.at(0), self.k.at(1), self.k.at(2), self.k.at(3));
        let mut vectors = |word: u32, all: &Local<Vec3, 4>| {
            let (a, b, c, d) = (all.at(0), all.at(1), all.at(2), all.at(3));
            put(word, a.x, b.x, c.x, d.x);
            put(word + 1, a.y, b.y, c.y, d.y);
            put(word + 2, a.z, b.z, c.z, d.z);
        };
        vectors(word::LEVER, &self.lever);
        vectors(word::GAP, &self.gap);
        vectors(word::LAMBDA, &self.lambda);
    }
}

/// Features of a manifold's points, as stored in their list: the feature in the low bits,
/// [`STICKS`](crate::state::rigid::STICKS) in the top bit.
#[inline(always)]
pub fn features(words: UVec4) -> Local<u32, 4> {
    Local::of([words.x, words.y, words.z, words.w])
}

/// Packs features for their list.
#[inline(always)]
pub fn feature_words(features: &Local<u32, 4>) -> UVec4 {
    UVec4::new(features.at(0), features.at(1), features.at(2), features.at(3))
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;

    #[test]
    fn coefficients_of_friction_keep_their_value() {
        for i in 0..=1_000_000 {
            // From 1e-4 to 1e4.
            let v = 10f32.powf(i as f32 * 8e-6 - 4.0);
            let back = unpack(pack(v));
            assert!((back / v - 1.0).abs() <= 1.0 / 4096.0, "{v} became {back}");
        }
        for exact in [0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 65_536.0] {
            assert_eq!(unpack(pack(exact)), exact);
        }
        assert_eq!(unpack(pack(1e-9)), 0.0);
        assert_eq!(unpack(pack(1e30)), 131_040.0);
        assert_eq!(unpack(pack(f32::INFINITY)), 131_040.0);
    }

    #[test]
    fn words_of_a_record_are_where_they_are_stored() {
        let words = record_words();
        assert_eq!(words.len(), 4 * word::COUNT as usize);
        let first = |name: &str| words.iter().position(|w| w.path.starts_with(name)).unwrap() as u32 / 4;
        let found = ["lever", "gap", "lambda", "k", "normal", "offset"].map(first);
        assert_eq!(found, [word::LEVER, word::GAP, word::LAMBDA, word::K, word::NORMAL, word::OFFSET]);
    }

    #[test]
    fn a_record_holds_points_and_head() {
        let point = |k: f32| Point {
            lever: Vec3::new(1.0, 2.0, 3.0) * k,
            gap: Vec3::new(4.0, 5.0, 6.0) * k,
            lambda: Vec3::new(7.0, 8.0, 9.0) * k,
            k: 10.0 * k,
        };
        let mut points = FourPoints::none();
        (0..4).for_each(|k| points.put(k, &point(k as f32 + 1.0)));
        let mut memory = vec![UVec4::ZERO; 2 * word::COUNT as usize];
        points.store(&mut memory, record(1));
        let friction = Friction { fixed: 0.5, sliding: 0.25 };
        let head = Head { normal: Vec3::Y, length: 2.0, offset: Vec3::X, friction, driven: true, round: ROUND_B };
        head.store(&mut memory, record(1));
        assert!(memory[..word::COUNT as usize].iter().all(|v| *v == UVec4::ZERO), "the first record is another's");
        let back = FourPoints::load(&memory, record(1));
        (0..4).for_each(|k| assert_eq!(back.at(k), point(k as f32 + 1.0)));
        let head = Head::load(&memory, record(1));
        assert_eq!((head.normal, head.length, head.offset, head.friction), (Vec3::Y, 2.0, Vec3::X, friction));
        assert!(head.driven && head.round == ROUND_B);
    }
}

/// Stores a contact in a manifold's record for `contacts` to build the manifold from: the points on the two colliders
/// in place of levers and gaps, and the tangential part of the way until impact in place of the offset.
#[inline(always)]
pub fn leave(
    contact: &Contact,
    across: Vec3,
    place: u32,
    manifolds: &mut impl Store<Manifold>,
    points: &mut impl Store<UVec4>,
    features: &mut impl Store<UVec4>,
) {
    let ends = ManifoldEnds { collider_a: 0, collider_b: 0, body_a: 0, body_b: 0 };
    manifolds.put(place, Manifold { ends, unit: 0.0, count: contact.count });
    let friction = Friction { fixed: 0.0, sliding: 0.0 };
    Head { normal: contact.normal, length: 0.0, offset: across, friction, driven: false, round: 0 }
        .store(points, record(place));
    features.put(place, feature_words(&contact.feature));
    let mut four = FourPoints::none();
    let mut k = 0;
    while k < contact.count {
        let point = Point { lever: contact.on_a.at(k), gap: contact.on_b.at(k), lambda: Vec3::ZERO, k: 0.0 };
        four.put(k, &point);
        k += 1;
    }
    four.store(points, record(place));
}
