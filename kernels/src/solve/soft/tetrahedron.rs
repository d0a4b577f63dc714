//! Tetrahedra: stable Neo-Hookean energy Psi = mu/2 (|F|^2 - 3) + l/2 (J - a)^2, with F the deformation gradient, J its
//! determinant, mu and lambda the Lame coefficients, l = lambda + mu and a = 1 + mu/l.
//!
//! With w a corner's weights (F changes by dx w^T when it moves by dx), the force is -V (mu F w + l (J - a) g) with g =
//! cof(F) w, and the block V (mu |w|^2 I + l g g^T) is the exact second derivative: J is linear in one corner. It is
//! positive definite for every F, inverted ones too. Cofactors are cross products, which a flat F has as well.
//!
//! Damping is that of the metric C = F^T F, which no rigid motion changes: with R its rate, the force is
//! -2 V eta F R w, the block (2 V eta / dt) (|w|^2 F F^T + (F w)(F w)^T). At small strain it is a viscosity of 4 eta.

use super::Block;
use crate::gpu::glam::Vec3;
use crate::state::soft::Tetrahedron;

/// Edges from the first corner to the others.
#[derive(Clone, Copy)]
pub struct Edges {
    /// To b.
    pub b: Vec3,
    /// To c.
    pub c: Vec3,
    /// To d.
    pub d: Vec3,
}

/// Columns of a matrix.
#[derive(Clone, Copy)]
struct Columns {
    x: Vec3,
    y: Vec3,
    z: Vec3,
}

impl Columns {
    /// The deformation gradient.
    #[inline(always)]
    fn new(t: &Tetrahedron, e: &Edges) -> Self {
        Self {
            x: e.b * t.wb.x + e.c * t.wc.x + e.d * t.wd.x,
            y: e.b * t.wb.y + e.c * t.wc.y + e.d * t.wd.y,
            z: e.b * t.wb.z + e.c * t.wc.z + e.d * t.wd.z,
        }
    }

    #[inline(always)]
    fn times(&self, v: Vec3) -> Vec3 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    /// Diagonal of F^T F, and yz, xz, xy off it.
    #[inline(always)]
    fn metric(&self) -> (Vec3, Vec3) {
        (
            Vec3::new(self.x.dot(self.x), self.y.dot(self.y), self.z.dot(self.z)),
            Vec3::new(self.y.dot(self.z), self.x.dot(self.z), self.x.dot(self.y)),
        )
    }
}

/// The weights of a corner, 0 to 3.
#[inline(always)]
pub fn weights(t: &Tetrahedron, corner: u32) -> Vec3 {
    let mut w = (t.wb + t.wc + t.wd) * -1.0;
    w = if corner == 1 { t.wb } else { w };
    w = if corner == 2 { t.wc } else { w };
    if corner == 3 { t.wd } else { w }
}

/// What a tetrahedron does to a corner; `before` is how it was at the start of the step.
#[inline(always)]
pub fn tetrahedron(t: &Tetrahedron, corner: u32, now: &Edges, before: &Edges, dt: f32) -> Block {
    let (f, w) = (Columns::new(t, now), weights(t, corner));
    let l = t.lambda + t.mu;
    let a = 1.0 + t.mu / l;
    let (cx, cy, cz) = (f.y.cross(f.z), f.z.cross(f.x), f.x.cross(f.y));
    let volume = f.x.dot(cx);
    let g = cx * w.x + cy * w.y + cz * w.z;
    let fw = f.times(w);
    let mut block = Block::none();
    block.force = (fw * t.mu + g * (l * (volume - a))) * -t.volume;
    block.add_scalar(t.volume * t.mu * w.length_squared());
    block.add_square(t.volume * l, g);
    if t.damping > 0.0 {
        let (diagonal, off) = f.metric();
        let (diagonal_before, off_before) = Columns::new(t, before).metric();
        let scale = 2.0 * t.volume * t.damping / dt;
        let (d, o) = (diagonal - diagonal_before, off - off_before);
        let rate = Vec3::new(
            d.x * w.x + o.z * w.y + o.y * w.z,
            o.z * w.x + d.y * w.y + o.x * w.z,
            o.y * w.x + o.x * w.y + d.z * w.z,
        );
        block.force -= f.times(rate) * scale;
        let wide = scale * w.length_squared();
        block.add_square(wide, f.x);
        block.add_square(wide, f.y);
        block.add_square(wide, f.z);
        block.add_square(scale, fw);
    }
    block
}
