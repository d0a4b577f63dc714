//! Manifolds of a colour, or those of the fallback in turn: see [`pair`](crate::solve::pair). `motions` are the ways of
//! bodies since the start of the step, or in [`phase::RELAX`] and [`phase::BRAKE`] their velocities.

pub use crate::solve::pair::Push;

use crate::detect::manifold::{FourPoints, Head, Manifold, feature_words, features, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, fmax, fmin, least, sqrt};
use crate::math::{Twist, tangents};
use crate::solve::contact::is_finite;
use crate::solve::pair::{Mover, PairRules, phase, places};
use crate::stage;
use crate::state::rigid::{ColourRange, POINTS, Params, STICKS, option};

stage! {
    "pair_contacts" each 64 {
        read 0 params: Params,
        read 1 ranges: ColourRange,
        read 2 order: u32,
        read 3 manifolds: Manifold,
        read 4 inverses: UVec4,
        update 5 points: UVec4,
        update 6 features: UVec4,
        update 7 motions: Twist,
    }
}

/// Solves one manifold, or all of the fallback.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let places = places(item, push, &b.ranges, b.order.len());
    let mut at = places.start;
    while at < places.end {
        solve(b.order.at(at), push.phase, b);
        at += 1;
    }
}

/// A point between two bodies.
#[derive(Clone, Copy)]
struct Arms {
    a: Vec3,
    b: Vec3,
}

impl Arms {
    /// How far a's point went from b's along `n`.
    #[inline(always)]
    fn along(&self, a: &Mover, c: &Mover, n: Vec3) -> f32 {
        a.along(n, self.a.cross(n)) - c.along(n, self.b.cross(n))
    }

    #[inline(always)]
    fn ease(&self, a: &Mover, c: &Mover, n: Vec3) -> f32 {
        fmax(a.ease(n, self.a.cross(n)) + c.ease(n, self.b.cross(n)), 1e-30)
    }

    #[inline(always)]
    fn push(&self, a: &mut Mover, c: &mut Mover, force: Vec3) {
        a.push(force, self.a.cross(force));
        c.push(-force, self.b.cross(-force));
    }
}

#[inline(always)]
fn solve(number: u32, phase: u32, b: &mut Bindings<'_>) {
    let params = b.params.at(0);
    let manifold = b.manifolds.at(number);
    let ends = manifold.ends;
    let h = params.dt;
    let square = h * h;
    let unit = if phase == phase::RELAX || phase == phase::BRAKE { h } else { 1.0 };
    let mut a = Mover::load(&b.inverses, &b.motions, ends.body_a, unit);
    let mut c = Mover::load(&b.inverses, &b.motions, ends.body_b, unit);
    let head = Head::load(&b.points, record(number));
    let mut points = FourPoints::load(&b.points, record(number));
    let mut names = features(b.features.at(number));
    let count = least(manifold.count, POINTS);
    let (n, (t, u)) = (head.normal, tangents(head.normal));
    let rules = PairRules::new(&params, phase, false, !(a.moves() && c.moves()));
    let xpbd = params.options & option::XPBD != 0;
    let deepest = -params.pair_speed * h;
    // Friction first, normals last, since overlap is worse than sliding; XPBD the other way round.
    let normals = if xpbd { 0 } else { 1 };
    let mut holds = false;
    let mut pass = 0;
    while pass < 2 {
        let mut k = 0;
        while k < count {
            let mut point = points.at(k);
            let arms = Arms { a: point.lever, b: point.lever + head.offset };
            if phase == phase::WARM {
                let force = t * point.lambda.x + u * point.lambda.y + n * point.lambda.z;
                if pass == 0 {
                    arms.push(&mut a, &mut c, force * -square);
                }
            } else if pass == normals {
                let ease = arms.ease(&a, &c, n) * square;
                let way = arms.along(&a, &c, n);
                if phase == phase::BRAKE {
                    // What corrections gave along the normal is no speed.
                    let pushes = if point.lambda.z < 0.0 { 1.0 } else { 0.0 };
                    arms.push(&mut a, &mut c, n * (-way / ease * square * pushes));
                } else {
                    let gap = point.gap.z;
                    let apart = gap > 0.0;
                    let error = fmax(rules.part * fmin(gap + params.pair_slop, 0.0), deepest);
                    let missing = way + if apart { gap } else { error };
                    let firm = if apart { 1.0 } else { rules.firm };
                    let fade = if apart { 0.0 } else { rules.fade };
                    let soft = params.pair_compliance;
                    let before = point.lambda.z;
                    let more = firm * (missing - soft * before) / (ease + soft) - fade * before;
                    point.lambda.z = fmin(before + more, 0.0);
                    arms.push(&mut a, &mut c, n * ((before - point.lambda.z) * square));
                }
            } else {
                let ease = fmax(arms.ease(&a, &c, t), arms.ease(&a, &c, u)) * square;
                let (wt, wu) = (arms.along(&a, &c, t), arms.along(&a, &c, u));
                let pressed = -point.lambda.z;
                if phase == phase::BRAKE {
                    let way = fmax(sqrt(wt * wt + wu * wu), 1e-30);
                    // What static friction has given already is not given twice.
                    let (lt, lu) = (point.lambda.x, point.lambda.y);
                    let left = fmax(head.friction.sliding * pressed - sqrt(lt * lt + lu * lu), 0.0);
                    let brake = fmin(left, way / ease);
                    let (ft, fu) = (wt * (brake / way), wu * (brake / way));
                    arms.push(&mut a, &mut c, (t * ft + u * fu) * -square);
                    (point.lambda.x, point.lambda.y) = (lt + ft, lu + fu);
                } else {
                    let (ft, fu) = (point.lambda.x + wt / ease, point.lambda.y + wu / ease);
                    let size = sqrt(ft * ft + fu * fu);
                    // The static coefficient holds what did not slide in the last step.
                    let mu = if point.k < 0.0 { head.friction.sliding } else { head.friction.fixed };
                    let slides = size > mu * pressed;
                    let mut scale = 1.0;
                    if slides {
                        scale = if xpbd { mu } else { head.friction.sliding } * pressed / size;
                    }
                    let (ft, fu) = (ft * scale, fu * scale);
                    let (dt, du) = (ft - point.lambda.x, fu - point.lambda.y);
                    arms.push(&mut a, &mut c, (t * dt + u * du) * -square);
                    (point.lambda.x, point.lambda.y) = (ft, fu);
                    let named = names.at(k) & !STICKS;
                    names.put(k, if slides && pressed > 0.0 { named } else { named | STICKS });
                    holds = holds || !slides;
                }
            }
            points.put(k, &point);
            k += 1;
        }
        pass += 1;
    }
    if xpbd && phase == phase::SOLVE && !holds {
        // No point is inside its cone: static friction does not hold the two, and dynamic friction is for velocities.
        let mut k = 0;
        while k < count {
            let mut point = points.at(k);
            let arms = Arms { a: point.lever, b: point.lever + head.offset };
            arms.push(&mut a, &mut c, (t * point.lambda.x + u * point.lambda.y) * square);
            (point.lambda.x, point.lambda.y) = (0.0, 0.0);
            points.put(k, &point);
            k += 1;
        }
    }
    // What is no number any more stays with the body that has it, which is about to be taken out.
    if is_finite(&a.way) & is_finite(&c.way) {
        a.store(&mut b.motions, ends.body_a, unit);
        c.store(&mut b.motions, ends.body_b, unit);
        if phase != phase::WARM {
            points.store(&mut b.points, record(number));
            b.features.put(number, feature_words(&names));
        }
    }
}
