//! Every operation of every implementation against plain `f32`, lane by lane and bit for bit, over special and random
//! values. Which NaN an operation gives is the one thing that Rust leaves open: there, any NaN will do.

use super::two_quads::TwoQuads;
use super::{Four, Group, OfBodies, OfPoints, Real, UVec4, Vector};

/// Eight floats: the points of two manifolds, or eight bodies.
type Eight = [f32; 8];

const SPECIAL: [f32; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.5,
    -2.25,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    // Denormals: the smallest, one in the middle, the largest.
    1e-45,
    -1e-45,
    3e-39,
    1.175_494_2e-38,
    f32::MAX,
    f32::MIN,
    1e30,
    f32::EPSILON,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    -f32::NAN,
];

/// Reproducible bits (xorshift).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    /// A special value, any bits at all, or a number of ordinary size.
    fn float(&mut self) -> f32 {
        match self.bits() % 3 {
            0 => SPECIAL[self.bits() as usize % SPECIAL.len()],
            1 => f32::from_bits(self.bits()),
            _ => (self.bits() as i32 as f32) / 65_536.0,
        }
    }

    fn eight(&mut self) -> Eight {
        std::array::from_fn(|_| self.float())
    }
}

/// Every pair of special values, then random ones.
fn cases() -> impl Iterator<Item = (Eight, Eight)> {
    let n = SPECIAL.len();
    let special = (0..n * n).map(move |first| {
        let pair = |i: usize| (SPECIAL[(first + i) % n], SPECIAL[((first + i) / n + 3 * i) % n]);
        (std::array::from_fn(|i| pair(i).0), std::array::from_fn(|i| pair(i).1))
    });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    special.chain((0..4_000).map(move |_| (random.eight(), random.eight())))
}

fn same(place: &str, found: f32, expected: f32) {
    let equal = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
    assert!(equal, "{place}: {found:?} ({:#x}), not {expected:?} ({:#x})", found.to_bits(), expected.to_bits());
}

/// Bits that are only moved, NaNs included.
fn identical(place: &str, found: f32, expected: f32) {
    assert_eq!(found.to_bits(), expected.to_bits(), "{place}: {found:?}, not {expected:?}");
}

fn words(values: &Eight) -> Vec<UVec4> {
    let four = |first: usize| UVec4::from_array(std::array::from_fn(|i| values[first + i].to_bits()));
    vec![four(0), four(4)]
}

/// The floats of manifolds 0 and 1 as far as one value holds them, or that of one point.
fn load<F: OfPoints>(values: &Eight, point: u32) -> F {
    F::load(&words(values), &F::each(|part| part), point)
}

/// Which of eight floats a value holds that was loaded for a point.
fn held<F: OfPoints>(point: u32) -> std::ops::Range<usize> {
    let first = if F::POINTS == 4 { 0 } else { point as usize };
    first..first + (F::POINTS * F::PARTS) as usize
}

fn each_lane<F: OfPoints>(place: &str, value: F, point: u32, moved: bool, expected: impl Fn(usize) -> f32) {
    const NOTHING: u32 = 0x1234_5678;
    let mut memory = vec![UVec4::splat(NOTHING); 2];
    value.store(&mut memory, &F::each(|part| part), point);
    let stored = memory.into_iter().flat_map(|v| v.to_array());
    for (lane, found) in stored.enumerate() {
        if held::<F>(point).contains(&lane) {
            let check = if moved { identical } else { same };
            check(&format!("{place}, lane {lane}"), f32::from_bits(found), expected(lane));
        } else {
            assert_eq!(found, NOTHING, "{place}, lane {lane} is another's");
        }
    }
}

fn signed(v: f32, negative: bool) -> f32 {
    f32::from_bits(v.to_bits() & !(1 << 31) | u32::from(negative) << 31)
}

/// What every value over points does.
fn points_are_floats<F: OfPoints>(name: &str) {
    (0..4 / F::POINTS).for_each(|point| these_points_are_floats::<F>(name, point));
}

fn these_points_are_floats<F: OfPoints>(name: &str, point: u32) {
    for (x, y) in cases() {
        let (a, b) = (load::<F>(&x, point), load::<F>(&y, point));
        let place = |what: &str| format!("{name} {what} of {x:?} and {y:?}, point {point}");
        let each_lane = |place: String, value: F, moved: bool, expected: &dyn Fn(usize) -> f32| {
            each_lane(&place, value, point, moved, expected);
        };
        each_lane(place("load"), a, true, &|i| x[i]);
        each_lane(place("+"), a + b, false, &|i| x[i] + y[i]);
        each_lane(place("-"), a - b, false, &|i| x[i] - y[i]);
        each_lane(place("*"), a * b, false, &|i| x[i] * y[i]);
        each_lane(place("/"), a / b, false, &|i| x[i] / y[i]);
        each_lane(place("neg"), -a, true, &|i| -x[i]);
        each_lane(place("root"), a.root(), false, &|i| x[i].sqrt());
        each_lane(place("size"), a.size(), true, &|i| if x[i] < 0.0 { -x[i] } else { x[i] });
        each_lane(place("least"), a.least(b), true, &|i| if x[i] < y[i] { x[i] } else { y[i] });
        each_lane(place("most"), a.most(b), true, &|i| if y[i] < x[i] { x[i] } else { y[i] });
        each_lane(place("select"), F::select(a.below(b), a, b), true, &|i| if x[i] < y[i] { x[i] } else { y[i] });
        let mask = !a.below(b) & F::splat(0.0).below(b);
        let below = |i: usize| x[i] < y[i];
        let picked = |i: usize| !below(i) & (0.0 < y[i]);
        each_lane(place("not, and"), F::select(mask, a, b), true, &|i| if picked(i) { x[i] } else { y[i] });
        each_lane(place("signed"), a.signed(mask), true, &|i| signed(x[i], picked(i)));
        assert_eq!(F::any(mask), held::<F>(point).any(picked), "{}", place("any"));
        let bits = F::each(|part| x[part as usize].to_bits());
        each_lane(place("odd"), F::select(F::odd(&bits), a, b), true, &|i| {
            if x[i / 4].to_bits() & 1 != 0 { x[i] } else { y[i] }
        });
        each_lane(place("splat"), F::splat(y[0]), true, &|_| y[0]);
        each_lane(place("spread"), F::spread(&bits, |b| f32::from_bits(*b)), true, &|i| x[i / 4]);
        each_lane(place("first"), a.first(1), true, &|i| if i < 4 { x[i] } else { 0.0 });
        each_lane(place("first of two"), a.first(2), true, &|i| x[i]);
        // Sums over points: pairs, then pairs of pairs, then the manifolds, where there are two.
        let sum = |v: &Eight, k: usize| {
            if F::POINTS == 1 { v[held::<F>(point).start] } else { (v[k] + v[k + 1]) + (v[k + 2] + v[k + 3]) }
        };
        let mut pulls = F::Body::lanes(a.total());
        F::Body::put_lane(&mut pulls, F::Body::LANES - 1, b.total());
        let totals = F::Body::totals(&pulls, |v| *v).scatter();
        let two = |v: &Eight| if F::PARTS == 2 { sum(v, 0) + sum(v, 4) } else { sum(v, 0) };
        let last = F::Body::LANES - 1;
        if last > 0 {
            same(&place("totals"), F::Body::lane(&totals, 0), two(&x));
        }
        same(&place("totals"), F::Body::lane(&totals, last), two(&y));
    }
    assert_eq!(F::part(&F::shift(&F::each(|part| 10 * part), 3), F::PARTS - 1), 10 * (F::PARTS - 1) + 3);
    assert_eq!(F::part(&F::map(&F::each(|part| part), |part| part + 7), 0), 7);
}

/// What every value over bodies does besides.
fn bodies_are_floats<F: OfBodies>(name: &str) {
    let alone = Group::native(0);
    for (x, y) in cases() {
        let all = |values: &Eight| {
            let mut all = F::lanes(0.0);
            (0..F::LANES).for_each(|i| F::put_lane(&mut all, i, values[i as usize]));
            all
        };
        let (a, b) = (F::gather(&all(&x), |v| *v), F::gather(&all(&y), |v| *v));
        let check = |what: &str, moved: bool, value: F, expected: &dyn Fn(usize) -> f32| {
            let found = value.scatter();
            for i in 0..F::LANES {
                let place = format!("{name} {what} of {x:?} and {y:?}, body {i}");
                (if moved { identical } else { same })(&place, F::lane(&found, i), expected(i as usize));
            }
        };
        check("gather", true, a, &|i| x[i]);
        check("of_slot", true, a.of_slot(&alone, 0), &|i| x[i]);
        check("by_lane", false, a.by_lane(|v| v * 3.0), &|i| x[i] * 3.0);
        check("with_lane", false, a.with_lane(b, |v, w| v - w), &|i| x[i] - y[i]);
        check("+", false, a + b, &|i| x[i] + y[i]);
        check("-", false, a - b, &|i| x[i] - y[i]);
        check("*", false, a * b, &|i| x[i] * y[i]);
        check("/", false, a / b, &|i| x[i] / y[i]);
        check("neg", true, -a, &|i| -x[i]);
        check("root", false, a.root(), &|i| x[i].sqrt());
        check("select", true, F::select(a.below(b), a, b), &|i| if x[i] < y[i] { x[i] } else { y[i] });
        check("splat", true, F::splat(x[0]), &|_| x[0]);
        let (u, v) = (Vector::new(a, b, a), Vector::new(b, b, a));
        check("dot", false, u.dot(v), &|i| x[i] * y[i] + y[i] * y[i] + x[i] * x[i]);
        check("cross", false, u.cross(v).z, &|i| x[i] * y[i] - y[i] * y[i]);
        assert_eq!(F::any(a.below(b)), (0..F::LANES as usize).any(|i| x[i] < y[i]), "{name}: {x:?} < {y:?}");
    }
}

#[test]
fn one_float_is_a_float() {
    points_are_floats::<f32>("f32");
    bodies_are_floats::<f32>("f32");
}

#[test]
fn four_points_side_by_side_are_floats() {
    points_are_floats::<Four>("Four");
    assert_eq!(Four::splat(4.0).common(), 4.0);
}

#[test]
fn eight_floats_without_avx_are_floats() {
    points_are_floats::<TwoQuads>("TwoQuads");
    bodies_are_floats::<TwoQuads>("TwoQuads");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn eight_floats_with_avx_are_floats() {
    /// The same code as in a stage: compiled with the registers that it uses.
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled() {
        points_are_floats::<super::WideV3>("Oct");
        bodies_are_floats::<super::WideV3>("Oct");
    }
    assert!(super::super::has_v3(), "this test wants a processor with AVX2");
    // SAFETY: the processor has the instructions.
    unsafe { compiled() };
}

/// Four floats as other processors have them.
#[test]
#[cfg(target_arch = "x86_64")]
fn four_floats_of_other_processors_are_floats() {
    use super::portable::{Quad, QuadMask};
    for (x, y) in cases() {
        let four = |v: &Eight| Quad::from_bits(std::array::from_fn(|i| v[i].to_bits()));
        let (a, b) = (four(&x), four(&y));
        let check = |what: &str, moved: bool, value: Quad, expected: &dyn Fn(usize) -> f32| {
            for (i, found) in value.to_bits().map(f32::from_bits).into_iter().enumerate() {
                let place = format!("portable {what} of {x:?} and {y:?}, lane {i}");
                (if moved { identical } else { same })(&place, found, expected(i));
            }
        };
        check("+", false, a + b, &|i| x[i] + y[i]);
        check("-", false, a - b, &|i| x[i] - y[i]);
        check("*", false, a * b, &|i| x[i] * y[i]);
        check("/", false, a / b, &|i| x[i] / y[i]);
        check("neg", true, -a, &|i| -x[i]);
        check("root", false, a.root(), &|i| x[i].sqrt());
        let mask = a.below(b) & !QuadMask::splat(false);
        check("select", true, Quad::select(mask, a, b), &|i| if x[i] < y[i] { x[i] } else { y[i] });
        let below = |i: usize| x[i] < y[i];
        check("signed", true, a.signed(!mask), &|i| signed(x[i], !below(i)));
        check("splat", true, Quad::splat(y[0]), &|_| y[0]);
        let sum = |v: &Eight| (v[0] + v[1]) + (v[2] + v[3]);
        check("totals", false, Quad::totals(a, b, a, b), &|i| sum(if i % 2 == 0 { &x } else { &y }));
        assert_eq!(mask.any(), (0..4).any(|i| x[i] < y[i]));
    }
}
