//! From a cloud of points to a convex polyhedron: triangles around it, then the polygons they make up.
//!
//! The side of a plane on which a point lies is decided exactly, in integers, on a grid far finer than single
//! precision. Therefore the triangles always close, whatever the cloud: coplanar, collinear and repeated points are
//! no special cases. Each point that is added is the farthest from some triangle (Barber et al., "The Quickhull
//! Algorithm", 1996); points within a tolerance are not added. Neighbouring triangles within the same tolerance are
//! then merged into polygonal faces.

use crate::glam::DVec3;
use std::collections::HashMap;

/// Steps of the grid along half of the cloud's longest side. Products of three differences stay within 128 bits.
const GRID: f64 = (1u64 << 36) as f64;
/// Largest number of vertices before faces are merged; a cloud with more is refused.
const MOST: usize = 256;

/// Vertices by their index in the cloud, and faces as loops of them, counter-clockwise from outside.
pub(super) struct Polyhedron {
    pub vertices: Vec<usize>,
    pub faces: Vec<Vec<u32>>,
}

/// Why there is no polyhedron.
pub(super) enum Trouble {
    /// All points lie in a plane, up to this thickness in metres.
    Flat(f64),
    /// It has more than [`MOST`] vertices.
    Round,
}

type Point = [i64; 3];

struct Cloud {
    grid: Vec<Point>,
    /// Metres of a grid step.
    step: f64,
}

impl Cloud {
    fn new(points: &[DVec3], centre: DVec3, half: f64) -> Self {
        let scale = GRID / half;
        let grid = points.iter().map(|p| ((*p - centre) * scale).round().to_array().map(|v| v as i64));
        Self { grid: grid.collect(), step: 1.0 / scale }
    }

    fn difference(&self, from: usize, to: usize) -> [i128; 3] {
        let (a, b) = (self.grid[from], self.grid[to]);
        [0, 1, 2].map(|i| i128::from(b[i] - a[i]))
    }

    fn normal(&self, [a, b, c]: [usize; 3]) -> [i128; 3] {
        let (u, v) = (self.difference(a, b), self.difference(a, c));
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    }

    /// Signed distance of a point above a triangle, multiplied by the normal's length.
    fn above(&self, from: usize, normal: [i128; 3], point: usize) -> i128 {
        let d = self.difference(from, point);
        normal[0] * d[0] + normal[1] * d[1] + normal[2] * d[2]
    }

    /// The point with the largest `measure`; of several the first by coordinates, which is a corner.
    fn farthest<T: PartialOrd>(&self, measure: impl Fn(usize) -> T) -> (usize, T) {
        let mut best = (0, measure(0));
        for p in 1..self.grid.len() {
            let m = measure(p);
            if m > best.1 || (m == best.1 && self.grid[p] < self.grid[best.0]) {
                best = (p, m);
            }
        }
        best
    }
}

fn length(v: [i128; 3]) -> f64 {
    DVec3::from_array(v.map(|c| c as f64)).length()
}

/// A triangle to which no point needs to be added is done.
struct Triangle {
    corners: [usize; 3],
    normal: [i128; 3],
    done: bool,
}

fn edges([a, b, c]: [usize; 3]) -> [(usize, usize); 3] {
    [(a, b), (b, c), (c, a)]
}

/// Triangles around the cloud. `noise` is what the coordinates are good to, `half` half of its longest side, in metres.
fn triangles(cloud: &Cloud, half: f64, noise: f64) -> Result<(Vec<[usize; 3]>, f64), Trouble> {
    // Two corners far apart, the farthest from their line, the farthest from that triangle.
    let spread = |axis: usize| {
        let values = cloud.grid.iter().map(|p| p[axis]);
        values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
    };
    let axis = (0..3).max_by_key(|&i| spread(i)).unwrap_or(0);
    let (a, _) = cloud.farthest(|p| cloud.grid[p][axis]);
    let (b, _) = cloud.farthest(|p| length(cloud.difference(a, p)));
    let (c, _) = cloud.farthest(|p| length(cloud.normal([a, b, p])));
    let normal = cloud.normal([a, b, c]);
    let (d, _) = cloud.farthest(|p| cloud.above(a, normal, p).abs());
    let heights = (0..cloud.grid.len()).map(|p| cloud.above(a, normal, p));
    let width = (heights.clone().max().unwrap_or(0) - heights.min().unwrap_or(0)) as f64;
    let width = if width > 0.0 { width / length(normal) * cloud.step } else { 0.0 };
    if width <= (1e-5 * half).max(4.0 * noise) {
        return Err(Trouble::Flat(width));
    }
    let tolerance = (1e-4 * half).min(0.01 * width).max(noise);

    let triangle = |corners| Triangle { corners, normal: cloud.normal(corners), done: false };
    let (b, c) = if cloud.above(a, normal, d) > 0 { (c, b) } else { (b, c) };
    let mut hull: Vec<Triangle> = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]].into_iter().map(triangle).collect();
    let mut vertices = 4;
    while let Some(next) = hull.iter().position(|t| !t.done) {
        let Triangle { corners, normal, .. } = hull[next];
        let (point, height) = cloud.farthest(|p| cloud.above(corners[0], normal, p));
        if height as f64 * cloud.step <= tolerance * length(normal) {
            hull[next].done = true;
            continue;
        }
        vertices += 1;
        if vertices > MOST {
            return Err(Trouble::Round);
        }
        // Triangles that the point is above are removed; the rim of the hole is joined to the point.
        let (seen, kept): (Vec<_>, Vec<_>) =
            hull.into_iter().partition(|t| cloud.above(t.corners[0], t.normal, point) > 0);
        let inner: Vec<_> = seen.iter().flat_map(|t| edges(t.corners)).collect();
        let rim = inner.iter().filter(|(u, v)| !inner.contains(&(*v, *u)));
        hull = kept;
        hull.extend(rim.map(|&(u, v)| triangle([u, v, point])));
    }
    Ok((hull.into_iter().map(|t| t.corners).collect(), tolerance))
}

/// Groups of triangles that lie in one plane within the tolerance. The largest triangles determine the planes.
fn groups(points: &[DVec3], triangles: &[[usize; 3]], tolerance: f64) -> Vec<Vec<usize>> {
    let owner: HashMap<_, _> =
        triangles.iter().enumerate().flat_map(|(i, t)| edges(*t).into_iter().map(move |e| (e, i))).collect();
    let normals: Vec<DVec3> =
        triangles.iter().map(|&[a, b, c]| (points[b] - points[a]).cross(points[c] - points[a])).collect();
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| normals[j].length_squared().total_cmp(&normals[i].length_squared()));
    let mut free = vec![true; triangles.len()];
    let mut groups = Vec::new();
    for seed in order {
        if !std::mem::take(&mut free[seed]) {
            continue;
        }
        let (origin, up) = (points[triangles[seed][0]], normals[seed].normalize_or_zero());
        let in_plane = |t: usize| {
            up.dot(normals[t]) >= 0.0 && triangles[t].iter().all(|&v| up.dot(points[v] - origin).abs() <= tolerance)
        };
        let mut group = vec![seed];
        let mut at = 0;
        while at < group.len() {
            for (u, v) in edges(triangles[group[at]]) {
                if let Some(&other) = owner.get(&(v, u))
                    && free[other]
                    && in_plane(other)
                {
                    free[other] = false;
                    group.push(other);
                }
            }
            at += 1;
        }
        groups.push(group);
    }
    groups
}

/// The rim of a group, if it is a single loop.
fn rim(triangles: &[[usize; 3]], group: &[usize]) -> Option<Vec<usize>> {
    let inner: Vec<_> = group.iter().flat_map(|&t| edges(triangles[t])).collect();
    let outer: Vec<_> = inner.iter().filter(|(u, v)| !inner.contains(&(*v, *u))).copied().collect();
    let next: HashMap<_, _> = outer.iter().copied().collect();
    let start = outer.iter().map(|e| e.0).min()?;
    let mut rim = vec![start];
    let mut at = *next.get(&start)?;
    while at != start && rim.len() <= outer.len() {
        rim.push(at);
        at = *next.get(&at)?;
    }
    (rim.len() == outer.len() && next.len() == outer.len()).then_some(rim)
}

/// The convex polyhedron around `points`, which are finite and not all in one place.
pub(super) fn around(points: &[DVec3], centre: DVec3, half: f64, noise: f64) -> Result<Polyhedron, Trouble> {
    let cloud = Cloud::new(points, centre, half);
    let (triangles, tolerance) = triangles(&cloud, half, noise)?;
    let mut loops: Vec<Vec<usize>> = Vec::new();
    for group in groups(points, &triangles, tolerance) {
        match rim(&triangles, &group) {
            Some(rim) => loops.push(rim),
            None => loops.extend(group.iter().map(|&t| triangles[t].to_vec())),
        }
    }
    // A vertex of only two faces lies on the edge between them.
    let mut vertices: Vec<usize> = loops.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices.retain(|v| {
        let faces: Vec<usize> = (0..loops.len()).filter(|&f| loops[f].contains(v)).collect();
        let needed = faces.len() > 2 || faces.iter().any(|&f| loops[f].len() <= 3);
        if !needed {
            faces.iter().for_each(|&f| loops[f].retain(|w| w != v));
        }
        needed
    });
    let number = |v: &usize| vertices.binary_search(v).map_or(0, |i| i as u32);
    let faces = loops.iter().map(|l| l.iter().map(number).collect()).collect();
    Ok(Polyhedron { vertices, faces })
}
