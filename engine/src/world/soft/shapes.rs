//! Ready-made soft bodies: ropes, grids of cloth, blocks and balls of tetrahedra.

use super::{SoftDesc, SoftHinge, SoftSpring, SoftSurface, SoftTetrahedron, SoftTriangle};
use crate::glam::Vec3;
use std::collections::BTreeMap;

/// Radius of ropes and cloth, as a part of the distance of their particles.
const THIN: f32 = 0.1;
/// The same of solids, which have a surface of their own.
const THINNER: f32 = 0.02;
/// Coefficient of friction, as that of colliders.
const FRICTION: f32 = 0.5;

/// What a cloth is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cloth {
    /// Kilograms a square metre.
    pub density: f32,
    /// Young's modulus times thickness, N/m.
    pub stretch: f32,
    /// Poisson's ratio in the plane, below 1.
    pub poisson: f32,
    /// Stiffness against bending, N m: the moment a metre for a curvature of 1/m.
    pub bend: f32,
    /// Of the rate of the metric, N s/m.
    pub damping: f32,
    /// Of the rate of the angles, N m s.
    pub bend_damping: f32,
}

impl Default for Cloth {
    fn default() -> Self {
        Self { density: 0.2, stretch: 2000.0, poisson: 0.3, bend: 1e-4, damping: 0.1, bend_damping: 1e-6 }
    }
}

/// What a solid is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Kilograms a cubic metre.
    pub density: f32,
    /// Young's modulus, pascals.
    pub young: f32,
    /// Poisson's ratio, below 0.5.
    pub poisson: f32,
    /// Of the rate of the metric, pascal seconds.
    pub damping: f32,
}

impl Default for Solid {
    fn default() -> Self {
        Self { density: 1000.0, young: 1e5, poisson: 0.4, damping: 10.0 }
    }
}

impl Solid {
    /// Both Lame coefficients.
    fn lame(&self) -> (f32, f32) {
        let shear = self.young / (2.0 * (1.0 + self.poisson));
        (shear, self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson)))
    }
}

impl SoftDesc {
    /// A rope of `particles` particles from `from` to `to`, with springs between them and `mass` kilograms in total.
    /// With an infinite stiffness it keeps its length.
    pub fn rope(from: Vec3, to: Vec3, particles: u32, mass: f32, stiffness: f32, damping: f32) -> Self {
        let count = particles.max(2);
        let at = |i: u32| from.lerp(to, i as f32 / (count - 1) as f32);
        let rest = (to - from).length() / (count - 1) as f32;
        let spring = |i: u32| SoftSpring { ends: [i, i + 1], rest, stiffness, damping };
        // The end particles have half the mass of the others.
        let share = |i: u32| mass / (count - 1) as f32 * if i == 0 || i + 1 == count { 0.5 } else { 1.0 };
        Self {
            rest: (0..count).map(at).collect(),
            masses: (0..count).map(share).collect(),
            springs: (0..count - 1).map(spring).collect(),
            surface: Some(SoftSurface::new(THIN * rest, FRICTION)),
            ..Self::default()
        }
    }

    /// A grid of cloth from a corner along two sides, with so many particles along each; number `i + n j` is the one at
    /// `i` along the first side and `j` along the second, of n. Triangles are cut along alternating diagonals.
    pub fn cloth(corner: Vec3, along: Vec3, across: Vec3, particles: (u32, u32), cloth: &Cloth) -> Self {
        let (n, m) = (particles.0.max(2), particles.1.max(2));
        let at = |i: u32, j: u32| corner + along * (i as f32 / (n - 1) as f32) + across * (j as f32 / (m - 1) as f32);
        let rest: Vec<Vec3> = (0..m).flat_map(|j| (0..n).map(move |i| at(i, j))).collect();
        let mut triangles = Vec::new();
        for j in 0..m - 1 {
            for i in 0..n - 1 {
                let [a, b, c, d] = [i + n * j, i + 1 + n * j, i + n * (j + 1), i + 1 + n * (j + 1)];
                let halves = if (i + j) % 2 == 0 { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] };
                triangles.extend(halves);
            }
        }
        Self::from_triangles(rest, &triangles, cloth)
    }

    /// Cloth made of any triangles. Each particle gets a third of the mass of each of its triangles; sides shared by
    /// two triangles become hinges.
    pub fn from_triangles(rest: Vec<Vec3>, triangles: &[[u32; 3]], cloth: &Cloth) -> Self {
        let shear = cloth.stretch / (2.0 * (1.0 + cloth.poisson));
        let lambda = cloth.stretch * cloth.poisson / (1.0 - cloth.poisson * cloth.poisson);
        let place = |i: u32| rest.get(i as usize).copied().unwrap_or_default();
        let area = |t: &[u32; 3]| 0.5 * (place(t[1]) - place(t[0])).cross(place(t[2]) - place(t[0])).length();
        let mut masses = vec![0.0; rest.len()];
        let mut sides: BTreeMap<(u32, u32), Vec<(u32, f32)>> = BTreeMap::new();
        for t in triangles {
            for k in 0..3 {
                let (a, b, opposite) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
                if let Some(mass) = masses.get_mut(a as usize) {
                    *mass += cloth.density * area(t) / 3.0;
                }
                // The corner to the left of the side from the lower to the higher comes first.
                let left = if a < b { 0.0 } else { 1.0 };
                sides.entry((a.min(b), a.max(b))).or_default().push((opposite, left));
            }
        }
        let hinge = |((a, b), mut wings): ((u32, u32), Vec<(u32, f32)>)| {
            wings.sort_by(|x, y| x.1.total_cmp(&y.1));
            let [(c, _), (d, _)] = wings[..] else { return None };
            // A plate that bends about a shared side bends both triangles: k = 3 D e^2 / (sum of both areas).
            let edge = (place(b) - place(a)).length();
            let both = area(&[a, b, c]) + area(&[b, a, d]);
            let share = 3.0 * edge * edge / both;
            Some(SoftHinge {
                corners: [a, b, c, d],
                stiffness: cloth.bend * share,
                damping: cloth.bend_damping * share,
            })
        };
        let hinges = if cloth.bend > 0.0 { sides.into_iter().filter_map(hinge).collect() } else { Vec::new() };
        let membrane = |t: &[u32; 3]| SoftTriangle { corners: *t, mu: shear, lambda, damping: cloth.damping };
        let triangles = triangles.iter().map(membrane).collect();
        let cloth = Self { masses, triangles, hinges, rest, ..Self::default() };
        cloth.with_surface(THIN)
    }

    /// A block of tetrahedra around a centre, five to a cell, with so many cells along each side.
    pub fn block(centre: Vec3, size: Vec3, cells: (u32, u32, u32), solid: &Solid) -> Self {
        let (n, m, l) = (cells.0.max(1), cells.1.max(1), cells.2.max(1));
        let part = |i: u32, of: u32| i as f32 / of as f32 - 0.5;
        let mut rest = Vec::new();
        for k in 0..=l {
            for j in 0..=m {
                rest.extend((0..=n).map(|i| centre + size * Vec3::new(part(i, n), part(j, m), part(k, l))));
            }
        }
        let at = |i: u32, j: u32, k: u32| i + (n + 1) * (j + (m + 1) * k);
        let mut corners = Vec::new();
        for (k, j, i) in (0..l).flat_map(|k| (0..m).flat_map(move |j| (0..n).map(move |i| (k, j, i)))) {
            let c = |bits: u32| at(i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2 & 1));
            // The middle one, and one at each of four corners; cells next to each other are mirrored, so that their
            // diagonals meet.
            let flip = if (i + j + k) % 2 == 0 { 0 } else { 1 };
            let cell = [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 3, 6], [4, 0, 5, 6], [7, 3, 5, 6]];
            corners.extend(cell.map(|t| t.map(|bits| c(bits ^ flip))));
        }
        Self::from_tetrahedra(rest, &corners, solid)
    }

    /// A ball of tetrahedra: a block whose shells are drawn onto spheres.
    pub fn ball(centre: Vec3, radius: f32, cells: u32, solid: &Solid) -> Self {
        let cells = cells.max(2);
        let mut ball = Self::block(Vec3::ZERO, Vec3::splat(2.0), (cells, cells, cells), solid);
        for p in &mut ball.rest {
            let shell = p.abs().max_element();
            let length = p.length();
            *p = centre + if length > 0.0 { *p * (radius * shell / length) } else { Vec3::ZERO };
        }
        let corners: Vec<_> = ball.tetrahedra.iter().map(|t| t.corners).collect();
        Self::from_tetrahedra(ball.rest, &corners, solid)
    }

    /// A solid made of any tetrahedra. Each particle gets a quarter of the mass of each of its tetrahedra.
    pub fn from_tetrahedra(rest: Vec<Vec3>, corners: &[[u32; 4]], solid: &Solid) -> Self {
        let (mu, lambda) = solid.lame();
        let place = |i: u32| rest.get(i as usize).copied().unwrap_or_default();
        let mut masses = vec![0.0; rest.len()];
        for t in corners {
            let [a, b, c, d] = t.map(place);
            let volume = (b - a).dot((c - a).cross(d - a)).abs() / 6.0;
            for corner in t {
                if let Some(mass) = masses.get_mut(*corner as usize) {
                    *mass += solid.density * volume / 4.0;
                }
            }
        }
        let made = |t: &[u32; 4]| SoftTetrahedron { corners: *t, mu, lambda, damping: solid.damping };
        let tetrahedra = corners.iter().map(made).collect();
        let solid = Self { masses, tetrahedra, rest, ..Self::default() };
        solid.with_surface(THINNER)
    }

    /// Cloth and solids of the same particles: [`from_triangles`](Self::from_triangles) and
    /// [`from_tetrahedra`](Self::from_tetrahedra) in one. The radius of the surface is that of the solid if there are
    /// tetrahedra.
    pub fn from_mesh(
        rest: Vec<Vec3>,
        triangles: &[[u32; 3]],
        cloth: &Cloth,
        tetrahedra: &[[u32; 4]],
        solid: &Solid,
    ) -> Self {
        if tetrahedra.is_empty() {
            return Self::from_triangles(rest, triangles, cloth);
        }
        let mut made = Self::from_tetrahedra(rest.clone(), tetrahedra, solid);
        if !triangles.is_empty() {
            let skin = Self::from_triangles(rest, triangles, cloth);
            made.masses.iter_mut().zip(skin.masses).for_each(|(mass, more)| *mass += more);
            (made.triangles, made.hinges) = (skin.triangles, skin.hinges);
        }
        made
    }

    /// A surface as thick as this part of the mean side of its triangles.
    fn with_surface(mut self, part: f32) -> Self {
        let (mut sum, mut count) = (0.0, 0.0f32);
        let place = |i: u32| self.rest.get(i as usize).copied().unwrap_or_default();
        let corners =
            self.triangles.iter().map(|t| &t.corners[..]).chain(self.tetrahedra.iter().map(|t| &t.corners[..]));
        for corners in corners {
            sum += (place(corners[1]) - place(corners[0])).length();
            count += 1.0;
        }
        let side = sum / count.max(1.0);
        // What is no length is found by `check`, where it comes from.
        let radius = if side.is_finite() { part * side } else { 0.0 };
        self.surface = Some(SoftSurface::new(radius, FRICTION));
        self
    }
}
