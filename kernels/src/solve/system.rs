//! A body's system of six equations: what its constraints add to it, and two ways to solve it.
//!
//! All points of a manifold share the basis, and both tangents share a stiffness, so a point's stiffness matrix is
//! `kt I + (kn - kt) n n^T`, and with r its lever and w = r x n, it adds to the body's Hessian
//!
//! ```text
//! linear          kt I + (kn - kt) n n^T
//! angular-linear  kt [r] + (kn - kt) w n^T
//! angular         kt (r.r I - r r^T) + (kn - kt) w w^T
//! ```
//!
//! When every row has its own stiffness, with ku that of the bitangent u, a row along u of stiffness ku - kt is added.
//!
//! The system is symmetric and positive definite, because every body has mass and inertia. [`Systems::ldl`] factors the
//! whole 6 by 6 matrix (AVBD, section 3.5). [`Systems::schur`] solves for the rotation first and for the linear motion
//! from that, two 3 by 3 systems (rigid bodies with VBD, "Solving via Schur Complement"). Both are written out because
//! the GPU compiler unrolls no loops.

use crate::gpu::glam::Vec3;
use crate::gpu::{Group, OfBodies, OfPoints, Real, Vector};
use crate::solve::contact::{Response, Shared};
use crate::solve::surface::Resistance;
use crate::solve::turns::Turns;

/// Sums over the points of a manifold. The normal, which all points share, is multiplied in by [`Pulls::add`].
#[derive(Clone, Copy)]
pub struct Sum<F: Real> {
    force: Vector<F>,
    torque: Vector<F>,
    k: F,
    k_normal: F,
    lever: Vector<F>,
    turn: Vector<F>,
    aa: Vector<F>,
    aa_off: Vector<F>,
}

impl<F: OfPoints> Sum<F> {
    /// Contribution of points with levers `r` on the body; `side` is 1 for body a and -1 for b.
    #[inline(always)]
    pub fn of(response: &Response<F>, shared: &Shared<F>, r: Vector<F>, side: F) -> Self {
        let (n, (t, u)) = (shared.normal, shared.tangents());
        // The force on a is -lambda dC/dx (Eq. 9).
        let l = response.lambda * -side;
        let force = t * l.x + u * l.y + n * l.z;
        let (kt, kd) = (response.k_tangent, response.k_normal - response.k_tangent);
        let w = r.cross(n);
        let square = r.dot(r);
        Self {
            force,
            torque: r.cross(force),
            k: kt,
            k_normal: kd,
            lever: r * kt,
            turn: w * kd,
            aa: (Vector::new(square, square, square) - r.times(r)) * kt + w.times(w) * kd,
            aa_off: w.mixed() * kd - r.mixed() * kt,
        }
    }
}

impl<F: Real> Sum<F> {
    /// Contribution of one more row along `axis`, with stiffness `k` and no force: by how much the bitangent is stiffer
    /// than the tangent.
    #[inline(always)]
    pub fn along(axis: Vector<F>, k: F, r: Vector<F>) -> Self {
        let (zero, none) = (Vector::zero(), F::splat(0.0));
        let w = r.cross(axis);
        Self {
            force: zero,
            torque: zero,
            k: none,
            k_normal: k,
            lever: zero,
            turn: w * k,
            aa: w.times(w) * k,
            aa_off: w.mixed() * k,
        }
    }
}

impl<F: Real> Sum<F> {
    /// Contribution of torques about and across the normal `n`; `side` is 1 for body a and -1 for b.
    #[inline(always)]
    pub fn turning(resistance: &Resistance<F>, n: Vector<F>, side: F) -> Self {
        let (zero, none) = (Vector::zero(), F::splat(0.0));
        let (k, more) = (resistance.k, resistance.k_normal - resistance.k);
        Self {
            force: zero,
            torque: resistance.torque * -side,
            k: none,
            k_normal: none,
            lever: zero,
            turn: zero,
            aa: Vector::new(k, k, k) + n.times(n) * more,
            aa_off: n.mixed() * more,
        }
    }
}

impl<F: OfPoints> Sum<F> {
    /// Adds up points as far as one lane does it by itself; [`Systems::of`] adds up the rest.
    #[inline(always)]
    pub fn total(&self) -> Sum<F::Body> {
        Sum {
            force: self.force.total(),
            torque: self.torque.total(),
            k: self.k.total(),
            k_normal: self.k_normal.total(),
            lever: self.lever.total(),
            turn: self.turn.total(),
            aa: self.aa.total(),
            aa_off: self.aa_off.total(),
        }
    }
}

/// Contribution of all manifolds to a body's system. On the CPU the points stay separate lanes until [`Systems::of`].
#[derive(Clone, Copy)]
pub struct Pulls<F: Real> {
    ll: Vector<F>,
    ll_off: Vector<F>,
    al0: Vector<F>,
    al1: Vector<F>,
    al2: Vector<F>,
    aa: Vector<F>,
    aa_off: Vector<F>,
    force: Vector<F>,
    torque: Vector<F>,
}

impl<F: Real> Pulls<F> {
    /// The contribution of no manifolds: zero.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = Vector::zero();
        Self {
            ll: zero,
            ll_off: zero,
            al0: zero,
            al1: zero,
            al2: zero,
            aa: zero,
            aa_off: zero,
            force: zero,
            torque: zero,
        }
    }

    /// The contribution of anything else, that of one body a lane.
    #[inline(always)]
    pub fn of(system: &Systems<F>) -> Self {
        let [al0, al1, al2] = system.al;
        Self {
            ll: system.ll,
            ll_off: system.ll_off,
            al0,
            al1,
            al2,
            aa: system.aa,
            aa_off: system.aa_off,
            force: system.force,
            torque: system.torque,
        }
    }

    /// Adds a manifold whose normal is `n`.
    #[inline(always)]
    pub fn add(&mut self, sum: &Sum<F>, n: Vector<F>) {
        self.force = self.force + sum.force;
        self.torque = self.torque + sum.torque;
        let (r, w, k) = (sum.lever, sum.turn, sum.k);
        let stiff = n * sum.k_normal;
        self.ll = self.ll + (Vector::new(k, k, k) + n.times(stiff));
        self.ll_off = self.ll_off + Vector::new(n.x * stiff.y, n.x * stiff.z, n.y * stiff.z);
        let (x, y, z) = (n * w.x, n * w.y, n * w.z);
        self.al0 = self.al0 + Vector::new(x.x, x.y - r.z, x.z + r.y);
        self.al1 = self.al1 + Vector::new(y.x + r.z, y.y, y.z - r.x);
        self.al2 = self.al2 + Vector::new(z.x - r.y, z.y + r.x, z.z);
        self.aa = self.aa + sum.aa;
        self.aa_off = self.aa_off + sum.aa_off;
    }
}

/// A body's 6 by 6 system. Symmetric blocks are stored as diagonal and off-diagonal vectors.
#[derive(Clone, Copy)]
pub struct System {
    /// Diagonal of the linear block.
    pub ll: Vec3,
    /// Its off-diagonal: xy, xz, yz.
    pub ll_off: Vec3,
    /// Angular-linear block: row i is the torque about axis i for a unit motion along x, y, z.
    pub al: [Vec3; 3],
    /// Diagonal of the angular block.
    pub aa: Vec3,
    /// Its off-diagonal: xy, xz, yz.
    pub aa_off: Vec3,
    /// Force, newtons.
    pub force: Vec3,
    /// Torque, newton metres.
    pub torque: Vec3,
}

impl System {
    /// An empty system, without inertia.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = Vec3::ZERO;
        Self { ll: zero, ll_off: zero, al: [zero; 3], aa: zero, aa_off: zero, force: zero, torque: zero }
    }
}

/// The systems of several bodies, one a lane; fields as in [`System`].
#[derive(Clone, Copy)]
pub struct Systems<F> {
    /// As in [`System`].
    pub ll: Vector<F>,
    /// As in [`System`].
    pub ll_off: Vector<F>,
    /// As in [`System`].
    pub al: [Vector<F>; 3],
    /// As in [`System`].
    pub aa: Vector<F>,
    /// As in [`System`].
    pub aa_off: Vector<F>,
    /// As in [`System`].
    pub force: Vector<F>,
    /// As in [`System`].
    pub torque: Vector<F>,
}

/// Linear and angular parts for several bodies.
#[derive(Clone, Copy)]
pub struct Twists<F> {
    /// Linear part.
    pub linear: Vector<F>,
    /// Angular part.
    pub angular: Vector<F>,
}

impl<F: OfBodies> Systems<F> {
    /// Adds up the manifolds of each body; inertia is not included.
    #[inline(always)]
    pub fn of(pulls: &F::Lanes<Pulls<F>>) -> Self {
        Self {
            ll: Vector::totals(pulls, |p: &Pulls<F>| p.ll),
            ll_off: Vector::totals(pulls, |p: &Pulls<F>| p.ll_off),
            al: [
                Vector::totals(pulls, |p: &Pulls<F>| p.al0),
                Vector::totals(pulls, |p: &Pulls<F>| p.al1),
                Vector::totals(pulls, |p: &Pulls<F>| p.al2),
            ],
            aa: Vector::totals(pulls, |p: &Pulls<F>| p.aa),
            aa_off: Vector::totals(pulls, |p: &Pulls<F>| p.aa_off),
            force: Vector::totals(pulls, |p: &Pulls<F>| p.force),
            torque: Vector::totals(pulls, |p: &Pulls<F>| p.torque),
        }
    }

    /// Puts the systems of several bodies side by side.
    #[inline(always)]
    pub fn gather(all: &F::Lanes<System>) -> Self {
        Self {
            ll: Vector::gather(all, |s: &System| s.ll),
            ll_off: Vector::gather(all, |s: &System| s.ll_off),
            al: [
                Vector::gather(all, |s: &System| s.al[0]),
                Vector::gather(all, |s: &System| s.al[1]),
                Vector::gather(all, |s: &System| s.al[2]),
            ],
            aa: Vector::gather(all, |s: &System| s.aa),
            aa_off: Vector::gather(all, |s: &System| s.aa_off),
            force: Vector::gather(all, |s: &System| s.force),
            torque: Vector::gather(all, |s: &System| s.torque),
        }
    }

    /// That of the first body.
    #[inline(always)]
    pub fn one(&self) -> System {
        let first = |v: Vector<F>| Vector::<F>::lane(&v.scatter(), 0);
        System {
            ll: first(self.ll),
            ll_off: first(self.ll_off),
            al: [first(self.al[0]), first(self.al[1]), first(self.al[2])],
            aa: first(self.aa),
            aa_off: first(self.aa_off),
            force: first(self.force),
            torque: first(self.torque),
        }
    }

    /// Inertia only (Eq. 5 and 6; Algorithm 1, lines 10 and 11). `displaced` is how far the bodies are from their
    /// targets.
    #[inline(always)]
    pub fn inertial(mass: F, principal: Vector<F>, rotation: Turns<F>, displaced: Twists<F>, dt: f32) -> Self {
        let scale = F::splat(1.0 / (dt * dt));
        let [x, y, z] = rotation.axes();
        let i = principal * scale;
        let w = displaced.angular;
        let mass = mass * scale;
        let torque = x * (i.x * x.dot(w)) + y * (i.y * y.dot(w)) + z * (i.z * z.dot(w));
        Self {
            ll: Vector::new(mass, mass, mass),
            ll_off: Vector::zero(),
            al: [Vector::zero(); 3],
            aa: x.times(x) * i.x + y.times(y) * i.y + z.times(z) * i.z,
            aa_off: x.mixed() * i.x + y.mixed() * i.y + z.mixed() * i.z,
            force: displaced.linear * -mass,
            torque: -torque,
        }
    }

    /// The sum of both.
    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            ll: self.ll + other.ll,
            ll_off: self.ll_off + other.ll_off,
            al: [self.al[0] + other.al[0], self.al[1] + other.al[1], self.al[2] + other.al[2]],
            aa: self.aa + other.aa,
            aa_off: self.aa_off + other.aa_off,
            force: self.force + other.force,
            torque: self.torque + other.torque,
        }
    }

    /// The sum of the systems of `width` neighbouring lanes; `width` is a power of two, at most the subgroup size.
    /// Every lane of the subgroup must call it. Lanes add in pairs, then pairs of pairs, so the order is the same on
    /// every device.
    #[inline(always)]
    pub fn over_lanes(&self, group: &Group, width: u32) -> Self {
        let mut sum = *self;
        let mut reach = 1;
        while reach < width {
            // One number after the other, so that no lane holds those of the others beside its own.
            let add = |v: Vector<F>| v.with_slot(group, group.slot ^ reach);
            sum = Self {
                ll: add(sum.ll),
                ll_off: add(sum.ll_off),
                al: [add(sum.al[0]), add(sum.al[1]), add(sum.al[2])],
                aa: add(sum.aa),
                aa_off: add(sum.aa_off),
                force: add(sum.force),
                torque: add(sum.torque),
            };
            reach *= 2;
        }
        sum
    }

    /// Solves H dx = f by LDL^T (Eq. 4, section 3.5; Algorithm 1, line 20).
    #[inline(always)]
    pub fn ldl(&self) -> Twists<F> {
        let one = F::splat(1.0);
        let (l, o, a, p) = (self.ll, self.ll_off, self.aa, self.aa_off);
        let (r0, r1, r2) = (self.al[0], self.al[1], self.al[2]);
        let i0 = one / l.x;
        let (l10, l20) = (o.x * i0, o.y * i0);
        let (l30, l40, l50) = (r0.x * i0, r1.x * i0, r2.x * i0);

        let d1 = l.y - l10 * o.x;
        let i1 = one / d1;
        let c21 = o.z - l20 * o.x;
        let (c31, c41, c51) = (r0.y - l30 * o.x, r1.y - l40 * o.x, r2.y - l50 * o.x);
        let (l21, l31, l41, l51) = (c21 * i1, c31 * i1, c41 * i1, c51 * i1);

        let d2 = l.z - l20 * o.y - l21 * c21;
        let i2 = one / d2;
        let c32 = r0.z - l30 * o.y - l31 * c21;
        let c42 = r1.z - l40 * o.y - l41 * c21;
        let c52 = r2.z - l50 * o.y - l51 * c21;
        let (l32, l42, l52) = (c32 * i2, c42 * i2, c52 * i2);

        let d3 = a.x - l30 * r0.x - l31 * c31 - l32 * c32;
        let i3 = one / d3;
        let c43 = p.x - l40 * r0.x - l41 * c31 - l42 * c32;
        let c53 = p.y - l50 * r0.x - l51 * c31 - l52 * c32;
        let (l43, l53) = (c43 * i3, c53 * i3);

        let d4 = a.y - l40 * r1.x - l41 * c41 - l42 * c42 - l43 * c43;
        let i4 = one / d4;
        let c54 = p.z - l50 * r1.x - l51 * c41 - l52 * c42 - l53 * c43;
        let l54 = c54 * i4;

        let d5 = a.z - l50 * r2.x - l51 * c51 - l52 * c52 - l53 * c53 - l54 * c54;
        let i5 = one / d5;

        let (f, g) = (self.force, self.torque);
        let y0 = f.x;
        let y1 = f.y - l10 * y0;
        let y2 = f.z - l20 * y0 - l21 * y1;
        let y3 = g.x - l30 * y0 - l31 * y1 - l32 * y2;
        let y4 = g.y - l40 * y0 - l41 * y1 - l42 * y2 - l43 * y3;
        let y5 = g.z - l50 * y0 - l51 * y1 - l52 * y2 - l53 * y3 - l54 * y4;

        let x5 = y5 * i5;
        let x4 = y4 * i4 - l54 * x5;
        let x3 = y3 * i3 - l43 * x4 - l53 * x5;
        let x2 = y2 * i2 - l32 * x3 - l42 * x4 - l52 * x5;
        let x1 = y1 * i1 - l21 * x2 - l31 * x3 - l41 * x4 - l51 * x5;
        let x0 = y0 * i0 - l10 * x1 - l20 * x2 - l30 * x3 - l40 * x4 - l50 * x5;
        Twists { linear: Vector::new(x0, x1, x2), angular: Vector::new(x3, x4, x5) }
    }

    /// Solves the same system by the Schur complement of the linear block. The VBD text adds a small number to the
    /// angular diagonal. Nothing is added here, because inertia over dt squared is larger than that for any body worth
    /// simulating.
    #[inline(always)]
    pub fn schur(&self) -> Twists<F> {
        let linear = Factors::new(self.ll, self.ll_off);
        let (r0, r1, r2) = (self.al[0], self.al[1], self.al[2]);
        let (x0, x1, x2) = (linear.solve(r0), linear.solve(r1), linear.solve(r2));
        let free = linear.solve(self.force);
        let complement = Factors::new(
            self.aa - Vector::new(r0.dot(x0), r1.dot(x1), r2.dot(x2)),
            self.aa_off - Vector::new(r1.dot(x0), r2.dot(x0), r2.dot(x1)),
        );
        let angular = complement.solve(self.torque - Vector::new(r0.dot(free), r1.dot(free), r2.dot(free)));
        Twists { linear: free - x0 * angular.x - x1 * angular.y - x2 * angular.z, angular }
    }
}

/// A symmetric 3 by 3 matrix, factored as L D L^T.
#[derive(Clone, Copy)]
struct Factors<F> {
    /// Below the diagonal of L: yx, zx, zy.
    lower: Vector<F>,
    /// Inverse of the diagonal D.
    inverse: Vector<F>,
}

impl<F: Real> Factors<F> {
    /// Factors the matrix with this diagonal and the off-diagonal xy, xz, yz.
    #[inline(always)]
    fn new(diagonal: Vector<F>, off: Vector<F>) -> Self {
        let one = F::splat(1.0);
        let ix = one / diagonal.x;
        let (yx, zx) = (off.x * ix, off.y * ix);
        let iy = one / (diagonal.y - yx * off.x);
        let rest = off.z - zx * off.x;
        let zy = rest * iy;
        let iz = one / (diagonal.z - zx * off.y - zy * rest);
        Self { lower: Vector::new(yx, zx, zy), inverse: Vector::new(ix, iy, iz) }
    }

    /// Solves for the vector that the matrix maps to `v`.
    #[inline(always)]
    fn solve(&self, v: Vector<F>) -> Vector<F> {
        let y = v.y - self.lower.x * v.x;
        let z = (v.z - self.lower.y * v.x - self.lower.z * y) * self.inverse.z;
        let y = y * self.inverse.y - self.lower.z * z;
        Vector::new(v.x * self.inverse.x - self.lower.x * y - self.lower.y * z, y, z)
    }
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;

    #[test]
    fn one_row_more_adds_its_own_square() {
        // k J^T J with J = [a, r x a] (Eq. 17).
        let (axis, r, k) = (Vec3::new(0.36, 0.48, 0.8), Vec3::new(0.3, -1.2, 0.7), 5.0f32);
        let vector = |v: Vec3| Vector::new(v.x, v.y, v.z);
        let mut pulls = Pulls::<f32>::none();
        pulls.add(&Sum::along(vector(axis), k, vector(r)), vector(axis));
        let j = [axis.to_array(), r.cross(axis).to_array()].concat();
        let expected = |row: usize, column: usize| k * j[row] * j[column];
        let found = [
            (pulls.ll.x, 0, 0),
            (pulls.ll.y, 1, 1),
            (pulls.ll.z, 2, 2),
            (pulls.ll_off.x, 0, 1),
            (pulls.ll_off.y, 0, 2),
            (pulls.ll_off.z, 1, 2),
            (pulls.al0.x, 3, 0),
            (pulls.al0.y, 3, 1),
            (pulls.al1.z, 4, 2),
            (pulls.al2.x, 5, 0),
            (pulls.al2.y, 5, 1),
            (pulls.aa.x, 3, 3),
            (pulls.aa.y, 4, 4),
            (pulls.aa.z, 5, 5),
            (pulls.aa_off.x, 3, 4),
            (pulls.aa_off.y, 3, 5),
            (pulls.aa_off.z, 4, 5),
        ];
        for (value, row, column) in found {
            assert!((value - expected(row, column)).abs() < 1e-5, "{row}, {column}: {value}");
        }
        assert_eq!((pulls.force.x, pulls.torque.y), (0.0, 0.0));
    }
}
