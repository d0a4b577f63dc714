//! Chooses up to four of any number of points so that they span the largest area: the deepest, the one farthest from
//! it, the one that makes the largest triangle with both, and the one farthest outside that triangle. The caller goes
//! through all points once for each of the four, so none have to be stored. Ties go to the first point, so the choice
//! stays the same from step to step.

use crate::detect::collide::numbers::{LEAST_GAIN, SAME_HEIGHT, THINNEST};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, fmax};

/// The points chosen so far.
#[derive(Clone, Copy)]
pub struct Spread {
    /// Number of points.
    pub count: u32,
    /// Their positions.
    pub point: [Vec3; 4],
    /// Their heights above the plane, metres; negative below.
    pub height: [f32; 4],
    /// Their features.
    pub name: [u32; 4],
    normal: Vec3,
    margin: f32,
    best: f32,
    /// Difference of heights that counts as equal in the search for the deepest point: the first such point is kept.
    pub tie: f32,
}

impl Spread {
    /// Starts with no points; only points less than `margin` above the plane with this normal count.
    #[inline(always)]
    pub fn new(normal: Vec3, margin: f32) -> Self {
        let (point, height, name) = ([Vec3::ZERO; 4], [0.0; 4], [0; 4]);
        let (best, tie) = (f32::NEG_INFINITY, SAME_HEIGHT * margin);
        Self { count: 0, point, height, name, normal, margin, best, tie }
    }

    /// Starts the search for point number `pass`; points closer together than `near` count as one.
    #[inline(always)]
    pub fn begin(&mut self, pass: u32, near: f32) {
        let side = self.point.at(1) - self.point.at(0);
        self.best = if pass == 0 {
            f32::NEG_INFINITY
        } else if pass == 1 {
            near * near
        } else if pass == 2 {
            THINNEST * side.length_squared()
        } else {
            LEAST_GAIN * abs(self.area(self.point.at(0), self.point.at(1), self.point.at(2)))
        };
    }

    #[inline(always)]
    fn area(&self, a: Vec3, b: Vec3, c: Vec3) -> f32 {
        self.normal.dot((b - a).cross(c - a))
    }

    /// Considers a candidate for point number `pass`.
    #[inline(always)]
    pub fn consider(&mut self, pass: u32, point: Vec3, height: f32, name: u32) {
        if self.count < pass || height >= self.margin {
            return;
        }
        let (a, b, c) = (self.point.at(0), self.point.at(1), self.point.at(2));
        let (measure, tie) = if pass == 0 {
            (-height, self.tie)
        } else if pass == 1 {
            let way = point - a;
            (way.length_squared(), 0.0)
        } else if pass == 2 {
            let area = self.area(a, b, point);
            (abs(area), 0.0)
        } else {
            let turn = if self.area(a, b, c) < 0.0 { -1.0 } else { 1.0 };
            let outside = fmax(
                fmax(-turn * self.area(a, b, point), -turn * self.area(b, c, point)),
                -turn * self.area(c, a, point),
            );
            (outside, 0.0)
        };
        if measure > self.best {
            self.best = measure + tie + 1e-3 * abs(measure);
            self.point.put(pass, point);
            self.height.put(pass, height);
            self.name.put(pass, name);
            self.count = pass + 1;
        }
    }
}
