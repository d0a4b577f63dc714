//! Every kind of query against a search through all colliders.
//!
//! A cast's way is right when it lies between those of a query that is a tenth of a millimetre thicker and one that is
//! as much thinner, both taken to the first of all colliders, and the collider that is named is touched there. Nothing
//! is left out as ambiguous. Overlaps and distances are held to the same tenth of a millimetre.

use crate::common::{Backend, Random};
use crate::reference::{Solid, Target, apart, first_touch, first_within, targets};
use crate::{any_shape, direction, for_all, map_all, on_every_backend, place, turn, world};
use drystone::glam::{DQuat, DVec3, Quat, Vec3};
use drystone::queries::{OverlapHit, QueryBatch, QueryFilter, QueryHit, QueryResults};
use drystone::world::{Shape, World};
use drystone::{Settings, Simulation};

/// Metres.
const TOLERANCE: f64 = 1e-4;
/// Queries of each of the three kinds that there are most of.
const MANY: usize = 100_000;

/// A ball, or a point, on its way.
struct Ball {
    centre: Vec3,
    radius: f32,
    direction: Vec3,
    reach: f32,
}

impl Ball {
    fn new(random: &mut Random, i: usize, radius: f32) -> Self {
        let axes = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
        let direction = if i.is_multiple_of(5) { axes[random.below(6) as usize] } else { direction(random) };
        let reach = if i.is_multiple_of(3) { random.range(0.0, 2.0) } else { 30.0 };
        Self { centre: place(random) * 1.5, radius, direction, reach }
    }

    /// The way to the first collider when it is thicker by so much.
    fn first(&self, targets: &[Target], thicker: f64) -> Option<f64> {
        let (p, d) = (self.centre.as_dvec3(), self.direction.as_dvec3());
        let (radius, reach) = (f64::from(self.radius) + thicker, f64::from(self.reach));
        let ways = targets.iter().filter(|t| t.may_meet(p, d, radius.max(0.0), reach));
        ways.filter_map(|t| first_within(p, &t.solid, d, radius, reach)).min_by(f64::total_cmp)
    }

    fn check(&self, hit: Option<QueryHit>, [thick, thin]: [Option<f64>; 2], targets: &[Target], what: &str) {
        let near = |way: f64| 1e-5 + 1e-6 * way;
        let Some(hit) = hit else {
            let left = thin.map(|way| f64::from(self.reach) - way);
            assert!(left.is_none_or(|left| left < near(30.0)), "{what}: nothing was met, but {thin:?}");
            return;
        };
        let way = f64::from(hit.distance);
        assert!(thick.is_some_and(|first| first <= way + near(way)), "{what}: {hit:?} is before {thick:?}");
        assert!(thin.is_none_or(|first| way <= first + near(first)), "{what}: {hit:?} is behind {thin:?}");
        let target = targets.iter().find(|t| (t.body, t.collider) == (hit.body, hit.collider)).unwrap();
        let (d, radius) = (self.direction.as_dvec3(), f64::from(self.radius));
        let there = self.centre.as_dvec3() + d * way;
        let gap = target.solid.distance(there) - radius;
        if way == 0.0 {
            assert!(gap <= TOLERANCE, "{what}: {hit:?} is {gap} away");
            assert!(hit.point == self.centre && hit.normal.dot(-self.direction) > 0.9999, "{what}: {hit:?}");
            return;
        }
        assert!(gap.abs() <= 2.0 * TOLERANCE, "{what}: {hit:?} is {gap} away");
        let (point, normal) = (hit.point.as_dvec3(), hit.normal.as_dvec3());
        assert!(target.solid.distance(point).abs() <= 2.0 * TOLERANCE, "{what}: {hit:?} is not on it");
        assert!((point.distance(there) - radius).abs() <= 2.0 * TOLERANCE, "{what}: {hit:?} is not on the ball");
        assert!((normal.length() - 1.0).abs() < 1e-4 && normal.dot(d) < 1e-2, "{what}: {hit:?}");
        // Along the normal one gets away from the shape as fast as one moves.
        let away = target.solid.distance(point + normal * 0.01);
        assert!((away - 0.01).abs() < 3.0 * TOLERANCE, "{what}: {hit:?}, {away}");
        assert!((hit.fraction - hit.distance / self.reach).abs() < 1e-6, "{what}: {hit:?}");
    }
}

fn named(backend: &Backend, kind: &str, i: usize) -> String {
    format!("{kind} {i} on {}", backend.name())
}

fn answers(world: &World, backend: &Backend, batch: &QueryBatch) -> QueryResults {
    let mut simulation = Simulation::new(world.clone(), Settings::default(), backend.device()).unwrap();
    simulation.query(batch).unwrap()
}

#[test]
fn rays_and_sphere_casts_meet_what_a_search_through_all_colliders_finds() {
    let mut random = Random::new(11);
    let world = world(&mut random, 80);
    let targets = targets(&world);
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    let mut balls = Vec::new();
    for i in 0..2 * MANY {
        let radius = if i < MANY { 0.0 } else { random.range(0.02, 0.7) };
        let ball = Ball::new(&mut random, i, radius);
        if i < MANY {
            assert_eq!(batch.ray(ball.centre, ball.direction * 3.0, ball.reach, all).unwrap(), i);
        } else {
            let motion = ball.direction * ball.reach;
            assert_eq!(batch.sphere_cast(ball.centre, radius, motion, all).unwrap(), i - MANY);
        }
        balls.push(ball);
    }
    let expected = map_all(balls.len(), |i| [TOLERANCE, -TOLERANCE].map(|thicker| balls[i].first(&targets, thicker)));
    let met = |range: std::ops::Range<usize>| expected[range].iter().filter(|e| e[1].is_some()).count();
    for range in [0..MANY, MANY..2 * MANY] {
        let met = met(range);
        assert!((MANY / 4..MANY * 19 / 20).contains(&met), "{met} meet something");
    }
    let inside = expected.iter().filter(|e| e[1] == Some(0.0)).count();
    assert!(inside > MANY / 100, "{inside} begin inside of something");
    on_every_backend(|backend| {
        let found = answers(&world, backend, &batch);
        assert_eq!((found.rays.len(), found.casts.len()), (MANY, MANY));
        for_all(balls.len(), |i| {
            let hit = if i < MANY { found.rays[i] } else { found.casts[i - MANY] };
            balls[i].check(hit, expected[i], &targets, &named(backend, "ball", i));
        });
    });
}

/// A shape somewhere.
struct Placed {
    shape: Shape,
    position: Vec3,
    rotation: Quat,
    solid: Solid,
}

impl Placed {
    fn new(random: &mut Random, shape: Shape) -> Self {
        let (position, rotation) = (place(random), turn(random));
        let solid = Solid::new(&shape, position.as_dvec3(), rotation.as_dquat());
        Self { shape, position, rotation, solid }
    }

    fn is_ball(&self) -> bool {
        matches!(self.shape, Shape::Sphere { .. })
    }

    /// A shape that queries may have: hulls are some of the world's.
    fn any(random: &mut Random, world: &World) -> Self {
        let mut shape = any_shape(random);
        if matches!(shape, Shape::ConvexHull(_)) {
            let colliders = world.handles().flat_map(|h| &world.desc(h).unwrap().colliders);
            let hulls: Vec<_> = colliders.filter(|c| matches!(c.shape, Shape::ConvexHull(_))).collect();
            shape = hulls[random.below(hulls.len() as u32) as usize].shape.clone();
        }
        Self::new(random, shape)
    }

    fn near<'a>(&self, targets: &'a [Target], reach: f64) -> impl Iterator<Item = &'a Target> {
        let (at, far) = (self.solid.centre, self.solid.reach + reach);
        targets.iter().filter(move |t| t.may_meet(at, DVec3::Y, far, 0.0))
    }

    /// How far it is from a collider; 0 when they overlap.
    fn apart(&self, target: &Target) -> f64 {
        match self.shape {
            Shape::Sphere { radius } => (target.solid.distance(self.solid.centre) - f64::from(radius)).max(0.0),
            _ => apart(&self.solid, &target.solid).0,
        }
    }

    /// Whether it overlaps a collider by more than the tolerance, or at least does not stay clear of it by as much.
    fn overlaps(&self, target: &Target) -> [bool; 2] {
        if let Shape::Sphere { radius } = self.shape {
            let gap = target.solid.distance(self.solid.centre) - f64::from(radius);
            return [gap < -TOLERANCE, gap < TOLERANCE];
        }
        let may = apart(&self.solid, &target.solid).0 < TOLERANCE;
        [may && apart(&self.solid.thinner(TOLERANCE), &target.solid).0 <= 0.0, may]
    }
}

#[test]
fn shapes_overlap_what_a_search_through_all_colliders_finds() {
    let mut random = Random::new(12);
    let world = world(&mut random, 80);
    let targets = targets(&world);
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    let placed: Vec<_> = (0..MANY)
        .map(|i| match i % 10 {
            0 => Placed::any(&mut random, &world),
            _ => {
                let radius = random.range(0.02, 1.2);
                Placed::new(&mut random, Shape::Sphere { radius })
            }
        })
        .collect();
    // Room for a few: more are counted, and the lowest of them listed.
    let most = |i: usize| (i % 6) as u32;
    for (i, p) in placed.iter().enumerate() {
        assert_eq!(batch.overlap(&p.shape, p.position, p.rotation, most(i), all).unwrap(), i);
    }
    let expected = map_all(MANY, |i| {
        let overlap = |t: &Target| {
            let [must, may] = placed[i].overlaps(t);
            (OverlapHit { body: t.body, collider: t.collider }, must, may)
        };
        placed[i].near(&targets, 2.0 * TOLERANCE).map(overlap).filter(|e| e.2).collect::<Vec<_>>()
    });
    let more = expected.iter().enumerate().filter(|(i, e)| e.len() > most(*i) as usize).count();
    assert!(more > MANY / 10 && expected.iter().filter(|e| e.is_empty()).count() > MANY / 20, "{more}");
    let unclear: usize = expected.iter().map(|e| e.iter().filter(|e| !e.1).count()).sum();
    assert!(unclear < MANY / 100, "{unclear} that only touch");
    on_every_backend(|backend| {
        let found = answers(&world, backend, &batch);
        for_all(MANY, |i| {
            let (found, what) = (&found.overlaps[i], named(backend, "overlap", i));
            let must: Vec<_> = expected[i].iter().filter(|e| e.1).map(|e| e.0).collect();
            let may: Vec<_> = expected[i].iter().map(|e| e.0).collect();
            let (least, highest) = (must.len() as u32, may.len() as u32);
            assert!((least..=highest).contains(&found.count), "{what}: {found:?}, but {:?}", expected[i]);
            assert_eq!(found.hits.len() as u32, found.count.min(most(i)), "{what}");
            assert!(found.hits.is_sorted(), "{what}: {found:?}");
            assert!(found.hits.iter().all(|hit| may.contains(hit)), "{what}: {found:?}, not {may:?}");
            if must == may {
                assert_eq!(found.hits, must[..found.hits.len()], "{what}: the lowest are listed");
            }
        });
    });
}

#[test]
fn shape_casts_meet_what_a_search_through_all_colliders_finds() {
    const CASTS: usize = 3_000;
    let mut random = Random::new(13);
    let world = world(&mut random, 50);
    let targets = targets(&world);
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    let casts: Vec<_> = (0..CASTS)
        .map(|i| {
            let mut placed = Placed::any(&mut random, &world);
            let reach = if i % 3 == 0 { random.range(0.0, 1.0) } else { random.range(1.0, 15.0) };
            if i % 10 == 0 {
                placed.rotation = Quat::IDENTITY;
                placed.solid.rotation = DQuat::IDENTITY;
            }
            let direction = if i % 7 == 0 { Vec3::NEG_Y } else { direction(&mut random) };
            (placed, direction, reach)
        })
        .collect();
    for (i, (p, direction, reach)) in casts.iter().enumerate() {
        let motion = *direction * *reach;
        assert_eq!(batch.shape_cast(&p.shape, p.position, p.rotation, motion, all).unwrap(), i);
    }
    // The way of a thinner one to the first of all: what is met must not be behind it.
    let thin = map_all(CASTS, |i| {
        let (p, direction, reach) = &casts[i];
        let (inner, d, reach) = (p.solid.thinner(TOLERANCE), direction.as_dvec3(), f64::from(*reach));
        let near = targets.iter().filter(|t| t.may_meet(inner.centre, d, inner.reach, reach));
        near.filter_map(|t| first_touch(&inner, &t.solid, d, reach)).min_by(f64::total_cmp)
    });
    let inside = thin.iter().filter(|t| **t == Some(0.0)).count();
    let met = thin.iter().flatten().count();
    assert!(inside > CASTS / 50 && (CASTS / 3..CASTS).contains(&met), "{met}, {inside} inside");
    on_every_backend(|backend| {
        let found = answers(&world, backend, &batch);
        for_all(CASTS, |i| {
            let (what, (p, direction, reach)) = (named(backend, "cast", i), &casts[i]);
            let what = format!("{what}, {:?}", p.shape);
            let Some(hit) = found.casts[i] else {
                assert!(thin[i].is_none_or(|way| way > f64::from(*reach) - 1e-4), "{what}: nothing, but {:?}", thin[i]);
                return;
            };
            let way = f64::from(hit.distance);
            assert!(thin[i].is_none_or(|thin| way <= thin + 2e-5), "{what}: {hit:?} is behind {:?}", thin[i]);
            let target = targets.iter().find(|t| (t.body, t.collider) == (hit.body, hit.collider)).unwrap();
            let there = p.solid.moved(direction.as_dvec3() * way);
            let gap = apart(&there, &target.solid).0;
            assert!(gap <= TOLERANCE, "{what}: {hit:?} is {gap} away from {:?}", target.solid.shape);
            if way == 0.0 {
                assert!(hit.normal.dot(-*direction) > 0.9999, "{what}: {hit:?}");
                return;
            }
            let (point, normal) = (hit.point.as_dvec3(), hit.normal.as_dvec3());
            let off = [target.solid.distance(point), there.distance(point)];
            assert!(off.iter().all(|d| d.abs() < 5.0 * TOLERANCE), "{what}: {hit:?} is {off:?} off the surfaces");
            assert!((normal.length() - 1.0).abs() < 1e-4, "{what}: {hit:?}");
            // Moved along the normal, the shape gets away from the other as fast as it moves, or almost.
            let away = apart(&there.moved(normal * 0.01), &target.solid).0;
            assert!((away - 0.01).abs() < 5.0 * TOLERANCE, "{what}: {hit:?}, {away} from {:?}", target.solid.shape);
        });
    });
}

#[test]
fn what_is_closest_is_what_a_search_through_all_colliders_finds() {
    const POINTS: usize = 20_000;
    const SHAPES: usize = 1_000;
    let mut random = Random::new(14);
    let world = world(&mut random, 60);
    let targets = targets(&world);
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    let reach = |i: usize| if i.is_multiple_of(2) { 0.4 } else { f32::INFINITY };
    let mut placed: Vec<_> = Vec::new();
    for i in 0..POINTS + SHAPES {
        let index = if i < POINTS {
            // Its distance is that of a ball, less its radius.
            placed.push(Placed::new(&mut random, Shape::Sphere { radius: 0.0 }));
            batch.closest_point(placed[i].position, reach(i), all).unwrap()
        } else {
            placed.push(Placed::any(&mut random, &world));
            let p = &placed[i];
            batch.closest(&p.shape, p.position, p.rotation, reach(i), all).unwrap()
        };
        assert_eq!(index, i);
    }
    let expected = map_all(placed.len(), |i| {
        let all = targets.iter().map(|t| placed[i].apart(t));
        all.min_by(f64::total_cmp).unwrap()
    });
    assert!(expected.iter().filter(|d| **d == 0.0).count() > POINTS / 100, "some are inside");
    assert!(placed.iter().filter(|p| p.is_ball()).count() > POINTS);
    on_every_backend(|backend| {
        let found = answers(&world, backend, &batch);
        for_all(placed.len(), |i| {
            let (what, p) = (named(backend, "search", i), &placed[i]);
            let what = format!("{what}, {:?}, {}", p.shape, expected[i]);
            let Some(hit) = found.closest[i] else {
                assert!(expected[i] > f64::from(reach(i)) - TOLERANCE, "{what}: nothing");
                return;
            };
            let distance = f64::from(hit.distance);
            assert!((distance - expected[i]).abs() < TOLERANCE, "{what}: {hit:?}");
            let target = targets.iter().find(|t| (t.body, t.collider) == (hit.body, hit.collider)).unwrap();
            let really = p.apart(target);
            assert!((really - distance).abs() < TOLERANCE, "{what}: {hit:?}, but it is {really} away");
            let (point, normal) = (hit.point.as_dvec3(), hit.normal.as_dvec3());
            if distance == 0.0 {
                assert_eq!(hit.normal, Vec3::ZERO, "{what}");
                return;
            }
            let off = target.solid.distance(point);
            assert!(off.abs() < 5.0 * TOLERANCE, "{what}: {hit:?} is {off} off the surface");
            let back = p.solid.distance(point) - distance;
            assert!(back.abs() < 5.0 * TOLERANCE, "{what}: {hit:?} is {back} more than that from the query");
            assert!((normal.length() - 1.0).abs() < 1e-4, "{what}: {hit:?}");
        });
    });
}

#[test]
fn queries_see_bodies_where_the_step_has_left_them() {
    let mut random = Random::new(15);
    let described = world(&mut random, 30);
    on_every_backend(|backend| {
        let mut simulation = Simulation::new(described.clone(), Settings::default(), backend.device()).unwrap();
        (0..20).for_each(|_| _ = simulation.step(1.0 / 60.0).unwrap());
        let mut moved = World::new();
        for (body, state) in simulation.bodies().unwrap() {
            let mut desc = described.desc(body).unwrap().clone();
            (desc.position, desc.rotation) = (state.position, state.rotation);
            moved.add(desc).unwrap();
        }
        let targets = targets(&moved);
        let (mut batch, mut random) = (QueryBatch::new(), Random::new(16));
        let balls: Vec<_> = (0..5_000).map(|i| Ball::new(&mut random, i, 0.1)).collect();
        for ball in &balls {
            let motion = ball.direction * ball.reach;
            batch.sphere_cast(ball.centre, ball.radius, motion, QueryFilter::default()).unwrap();
        }
        let found = simulation.query(&batch).unwrap();
        let met = found.casts.iter().flatten().filter(|h| described.mass(h.body).unwrap() > 0.0).count();
        assert!(met > 200, "{met} meet bodies that fell");
        for_all(balls.len(), |i| {
            let expected = [TOLERANCE, -TOLERANCE].map(|thicker| balls[i].first(&targets, thicker));
            balls[i].check(found.casts[i], expected, &targets, &format!("cast {i}"));
        });
    });
}
