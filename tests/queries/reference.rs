//! The truth, in double precision and by other means than the engine's: signed distances of points to every shape in
//! closed form, and for two shapes the nearest points of their difference by trying every sub-simplex of its corners,
//! with both bounds checked: a direction that proves how far they are apart at least, and two points that prove how far
//! at most.

use crate::common::Random;
use drystone::glam::{DQuat, DVec3, Vec3};
use drystone::world::{BodyHandle, Shape, World};

/// A shape in world space.
#[derive(Clone)]
pub struct Solid {
    pub shape: Shape,
    pub centre: DVec3,
    pub rotation: DQuat,
    /// Vertices of a hull.
    vertices: Vec<DVec3>,
    /// Its faces: normal, offset, corners.
    faces: Vec<(DVec3, f64, Vec<DVec3>)>,
    /// Farthest point from the centre.
    pub reach: f64,
    /// What the shape is multiplied with, about its centre or that of a hull's vertices.
    scale: f64,
}

impl Solid {
    pub fn new(shape: &Shape, centre: DVec3, rotation: DQuat) -> Self {
        let (mut vertices, mut faces) = (Vec::new(), Vec::new());
        if let Shape::ConvexHull(hull) = shape {
            vertices = hull.vertices().map(Vec3::as_dvec3).collect();
            let middle = vertices.iter().sum::<DVec3>() / vertices.len() as f64;
            for (_, corners) in hull.faces() {
                let corners: Vec<DVec3> = corners.iter().map(|i| vertices[*i as usize]).collect();
                // Newell's normal, which needs no three good corners.
                let around = (0..corners.len()).map(|i| corners[i].cross(corners[(i + 1) % corners.len()]));
                let mut normal = around.sum::<DVec3>().normalize();
                if normal.dot(corners[0] - middle) < 0.0 {
                    normal = -normal;
                }
                let offset = corners.iter().map(|c| normal.dot(*c)).fold(f64::NEG_INFINITY, f64::max);
                faces.push((normal, offset, corners));
            }
        }
        let reach = match *shape {
            Shape::Sphere { radius } => radius.into(),
            Shape::Box { half } => half.as_dvec3().length(),
            Shape::Capsule { half_height, radius } => f64::from(half_height) + f64::from(radius),
            Shape::Cylinder { half_height, radius } | Shape::Cone { half_height, radius } => {
                f64::from(half_height).hypot(radius.into())
            }
            Shape::ConvexHull(_) => vertices.iter().map(|v| v.length()).fold(0.0, f64::max),
            Shape::HalfSpace => f64::INFINITY,
            _ => unreachable!("a shape that is new here"),
        };
        Self { shape: shape.clone(), centre, rotation, vertices, faces, reach, scale: 1.0 }
    }

    /// A smaller one inside of it, no farther than a few times `by` from its surface and nowhere nearer than that.
    pub fn thinner(&self, by: f64) -> Self {
        let mut inner = self.clone();
        let less = |v: f32| (f64::from(v) - by) as f32;
        match &mut inner.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius = less(*radius),
            Shape::Box { half } => *half -= Vec3::splat(by as f32),
            Shape::Cylinder { half_height, radius } => (*half_height, *radius) = (less(*half_height), less(*radius)),
            Shape::Cone { half_height, radius } => {
                // About its middle, from which base and side are so far away.
                let (h, r) = (f64::from(*half_height), f64::from(*radius));
                inner.scale = 1.0 - by / h.min(r * h / r.hypot(2.0 * h)).max(2.0 * by);
            }
            Shape::ConvexHull(_) => {
                let middle = self.vertices.iter().sum::<DVec3>() / self.vertices.len() as f64;
                let inside = self.faces.iter().map(|f| f.1 - f.0.dot(middle)).fold(f64::MAX, f64::min);
                let scale = 1.0 - by / inside.max(2.0 * by);
                inner.vertices.iter_mut().for_each(|v| *v = middle + (*v - middle) * scale);
            }
            Shape::HalfSpace => unreachable!("never asked with"),
            _ => unreachable!("a shape that is new here"),
        }
        inner
    }

    /// The same, moved.
    pub fn moved(&self, way: DVec3) -> Self {
        Self { centre: self.centre + way, ..self.clone() }
    }

    /// Signed distance of a point in world space: negative inside.
    pub fn distance(&self, p: DVec3) -> f64 {
        let p = self.rotation.inverse() * (p - self.centre);
        match self.shape {
            Shape::Sphere { radius } => p.length() - f64::from(radius),
            Shape::Box { half } => {
                let q = p.abs() - half.as_dvec3();
                q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
            }
            Shape::Capsule { half_height, radius } => {
                let h = f64::from(half_height);
                (p - DVec3::Y * p.y.clamp(-h, h)).length() - f64::from(radius)
            }
            Shape::Cylinder { half_height, radius } => {
                let (a, b) = (p.x.hypot(p.z) - f64::from(radius), p.y.abs() - f64::from(half_height));
                a.max(0.0).hypot(b.max(0.0)) + a.max(b).min(0.0)
            }
            Shape::Cone { half_height, radius } => {
                let (h, r, out) = (f64::from(half_height), f64::from(radius), p.x.hypot(p.z));
                let segment = |ax: f64, ay: f64, bx: f64, by: f64| {
                    let (dx, dy) = (bx - ax, by - ay);
                    let t = (((out - ax) * dx + (p.y - ay) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
                    (out - ax - dx * t).hypot(p.y - ay - dy * t)
                };
                let surface = segment(0.0, -h, r, -h).min(segment(r, -h, 0.0, h));
                let inside = p.y > -h && 2.0 * h * (out - r) + r * (p.y + h) < 0.0;
                if inside { -surface } else { surface }
            }
            Shape::ConvexHull(_) => {
                let above = self.faces.iter().map(|f| f.0.dot(p) - f.1).fold(f64::NEG_INFINITY, f64::max);
                if above <= 0.0 { above } else { self.faces.iter().map(|f| to_face(p, f)).fold(f64::MAX, f64::min) }
            }
            Shape::HalfSpace => p.y,
            _ => unreachable!("a shape that is new here"),
        }
    }

    /// The point of it farthest along a direction, in world space.
    fn farthest(&self, d: DVec3) -> DVec3 {
        let l = self.rotation.inverse() * d;
        let side = |v: f64, half: f64| if v < 0.0 { -half } else { half };
        let out = DVec3::new(l.x, 0.0, l.z).normalize_or(DVec3::X);
        let local = match self.shape {
            Shape::Sphere { radius } => l.normalize() * f64::from(radius),
            Shape::Box { half } => {
                let h = half.as_dvec3();
                DVec3::new(side(l.x, h.x), side(l.y, h.y), side(l.z, h.z))
            }
            Shape::Capsule { half_height, radius } => {
                l.normalize() * f64::from(radius) + DVec3::Y * side(l.y, half_height.into())
            }
            Shape::Cylinder { half_height, radius } => {
                out * f64::from(radius) + DVec3::Y * side(l.y, half_height.into())
            }
            Shape::Cone { half_height, radius } => {
                let apex = f64::from(half_height);
                let base = out * f64::from(radius) - DVec3::Y * apex;
                if l.dot(base) > l.y * apex { base } else { DVec3::Y * apex }
            }
            Shape::ConvexHull(_) => *self.vertices.iter().max_by(|a, b| l.dot(**a).total_cmp(&l.dot(**b))).unwrap(),
            Shape::HalfSpace => unreachable!("it reaches everywhere"),
            _ => unreachable!("a shape that is new here"),
        };
        self.centre + self.rotation * (local * self.scale)
    }
}

fn to_face(p: DVec3, (normal, offset, corners): &(DVec3, f64, Vec<DVec3>)) -> f64 {
    let above = normal.dot(p) - offset;
    let n = corners.len();
    let edges = || (0..n).map(|i| (corners[i], corners[(i + 1) % n]));
    let turn = |(a, b): (DVec3, DVec3)| (b - a).cross(p - a).dot(*normal);
    if edges().all(|e| turn(e) >= 0.0) || edges().all(|e| turn(e) <= 0.0) {
        return above.abs();
    }
    let segment = |(a, b): (DVec3, DVec3)| {
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a + (b - a) * t)
    };
    edges().map(segment).fold(f64::MAX, f64::min)
}

/// The point of the hull of some points that is nearest to the origin, and which of them it needs: every subset is
/// tried.
fn nearest(points: &[DVec3]) -> (DVec3, Vec<DVec3>) {
    let mut best = (points[0], vec![points[0]]);
    for bits in 1u32..1 << points.len() {
        let chosen: Vec<DVec3> = (0..points.len()).filter(|i| bits & (1 << i) != 0).map(|i| points[i]).collect();
        // The point of the plane through them: p0 + E w, with E^T (p0 + E w) = 0.
        let edges: Vec<DVec3> = chosen[1..].iter().map(|p| *p - chosen[0]).collect();
        let n = edges.len();
        let mut m: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| edges[i].dot(edges[j])).chain([-edges[i].dot(chosen[0])]).collect())
            .collect();
        let mut solvable = true;
        for i in 0..n {
            let pivot = (i..n).max_by(|a, b| m[*a][i].abs().total_cmp(&m[*b][i].abs())).unwrap();
            m.swap(i, pivot);
            solvable &= m[i][i].abs() > 1e-14 * edges[i].length_squared().max(1e-30);
            if !solvable {
                break;
            }
            for row in 0..n {
                if row != i {
                    let (pivot, factor) = (m[i].clone(), m[row][i] / m[i][i]);
                    m[row].iter_mut().zip(pivot).for_each(|(v, p)| *v -= factor * p);
                }
            }
        }
        if !solvable {
            continue;
        }
        let w: Vec<f64> = (0..n).map(|i| m[i][n] / m[i][i]).collect();
        if w.iter().all(|w| *w >= 0.0) && w.iter().sum::<f64>() <= 1.0 {
            let point = chosen[0] + edges.iter().zip(&w).map(|(e, w)| *e * *w).sum::<DVec3>();
            if point.length_squared() < best.0.length_squared() {
                best = (point, chosen);
            }
        }
    }
    best
}

/// How far two shapes are apart, and a direction from b to a that proves it; 0 when they overlap.
pub fn apart(a: &Solid, b: &Solid) -> (f64, DVec3) {
    if matches!(b.shape, Shape::HalfSpace) {
        let up = b.rotation * DVec3::Y;
        return (up.dot(a.farthest(-up) - b.centre).max(0.0), up);
    }
    let corner = |d: DVec3| a.farthest(d) - b.farthest(-d);
    let mut points = vec![corner(b.centre - a.centre + DVec3::splat(1e-9))];
    let mut best = (0.0, DVec3::Y);
    for _ in 0..1000 {
        let (point, needed) = nearest(&points);
        let most = point.length();
        if most < 1e-9 || needed.len() == 4 {
            return (0.0, DVec3::Y);
        }
        let n = point / most;
        let next = corner(-n);
        let least = n.dot(next);
        if least > best.0 {
            best = (least, n);
        }
        if most - least < 1e-7 {
            return (least.max(0.0), n);
        }
        points = needed;
        points.push(next);
    }
    // Round shapes that graze each other come nearer slowly.
    best
}

/// The first way at which `a`, moved along `d`, touches `b`: it goes on by no more than any direction allows.
pub fn first_touch(a: &Solid, b: &Solid, d: DVec3, reach: f64) -> Option<f64> {
    let mut way = 0.0;
    for _ in 0..200 {
        let (gap, n) = apart(&a.moved(d * way), b);
        if gap < 1e-6 {
            return Some(way);
        }
        let closing = -n.dot(d);
        if closing <= 0.0 {
            return None;
        }
        way += gap / closing;
        if way > reach {
            return None;
        }
    }
    Some(way)
}

/// The first way at which a point, moved along `d`, is no farther than `level` from `b`. Distances to convex shapes are
/// convex along a line: where they fall no longer, they never do again.
pub fn first_within(p: DVec3, b: &Solid, d: DVec3, level: f64, reach: f64) -> Option<f64> {
    let over = |way: f64| b.distance(p + d * way) - level;
    let mut way = 0.0;
    for _ in 0..60 {
        let gap = over(way);
        if gap <= 1e-9 {
            return Some(way);
        }
        if way > reach || over(way + 1e-6) >= gap {
            return None;
        }
        way += gap;
    }
    // It grazes: the lowest place by thirds, then the crossing before it by halves.
    let (mut low, mut high) = (way, reach.min(way + 100.0));
    let mut from = way;
    for _ in 0..100 {
        let third = (high - low) / 3.0;
        if over(low + third) < over(high - third) { high -= third } else { low += third }
    }
    let mut to = 0.5 * (low + high);
    if over(to) > 0.0 {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (from + to);
        if over(middle) > 0.0 { from = middle } else { to = middle }
    }
    Some(to)
}

/// A collider and whose it is.
pub struct Target {
    pub body: BodyHandle,
    pub collider: usize,
    pub solid: Solid,
}

/// All colliders of a world as it is described.
pub fn targets(world: &World) -> Vec<Target> {
    let mut list = Vec::new();
    for body in world.handles() {
        let desc = world.desc(body).unwrap();
        for (collider, c) in desc.colliders.iter().enumerate() {
            let rotation = desc.rotation.as_dquat();
            let centre = desc.position.as_dvec3() + rotation * c.position.as_dvec3();
            let solid = Solid::new(&c.shape, centre, (rotation * c.rotation.as_dquat()).normalize());
            list.push(Target { body, collider, solid });
        }
    }
    list
}

impl Target {
    /// Whether a ball that is moved along `d` may come near it: most do not.
    pub fn may_meet(&self, p: DVec3, d: DVec3, radius: f64, reach: f64) -> bool {
        if !self.solid.reach.is_finite() {
            return true;
        }
        let way = (self.solid.centre - p).dot(d).clamp(0.0, reach);
        (p + d * way).distance(self.solid.centre) <= self.solid.reach + radius
    }
}

#[test]
fn the_reference_is_right_where_it_is_easy_to_tell() {
    let unit = Solid::new(&Shape::Box { half: Vec3::ONE }, DVec3::ZERO, DQuat::IDENTITY);
    let ball = |at: DVec3| Solid::new(&Shape::Sphere { radius: 0.5 }, at, DQuat::IDENTITY);
    assert!((apart(&ball(DVec3::new(3.0, 3.0, 0.0)), &unit).0 - (8f64.sqrt() - 0.5)).abs() < 1e-6);
    assert_eq!(apart(&ball(DVec3::X * 1.4), &unit).0, 0.0);
    assert!((first_touch(&ball(DVec3::X * 5.0), &unit, DVec3::NEG_X, 9.0).unwrap() - 3.5).abs() < 1e-5);
    assert_eq!(first_touch(&ball(DVec3::new(5.0, 1.51, 0.0)), &unit, DVec3::NEG_X, 9.0), None);
    // Closed forms and corners of the difference agree on every shape: a tiny ball for a point.
    let mut random = Random::new(3);
    for _ in 0..300 {
        let b = Solid::new(&crate::any_shape(&mut random), DVec3::ZERO, crate::turn(&mut random).as_dquat());
        let p = crate::direction(&mut random).as_dvec3() * f64::from(random.range(0.0, 2.5));
        let point = Solid::new(&Shape::Sphere { radius: 1e-5 }, p, DQuat::IDENTITY);
        let (by_form, by_corners) = (b.distance(p).max(0.0), apart(&point, &b).0);
        assert!((by_form - by_corners).abs() < 3e-5, "{:?}: {by_form} and {by_corners}", b.shape);
    }
}
