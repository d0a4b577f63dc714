//! Counts, energies and stretch of soft bodies, computed from their positions in double precision.

use crate::glam::{DMat3, DVec3, Vec3};
use crate::world::SoftDesc;
use crate::world::SoftHandle;
use crate::{Result, Simulation};

/// Quantities of soft bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SoftMetrics {
    /// Soft bodies.
    pub bodies: u32,
    /// Particles.
    pub particles: u64,
    /// Springs.
    pub springs: u64,
    /// Triangles of cloth.
    pub triangles: u64,
    /// Tetrahedra.
    pub tetrahedra: u64,
    /// Energy of motion, joules.
    pub kinetic_energy: f64,
    /// Energy of height.
    pub potential_energy: f64,
    /// Energy of what is deformed: springs that give way, cloth and its angles, solids. 0 at rest.
    pub elastic_energy: f64,
    /// Largest length of a side of an element, in lengths of that side at rest; 1 when there are none.
    pub largest_stretch: f64,
    /// The soft body that has it.
    pub most_stretched: Option<SoftHandle>,
    /// Volume of the most flattened tetrahedron in its volumes at rest, negative when it is inside out; 1 when there
    /// are none.
    pub least_volume: f64,
    /// Highest speed of a particle.
    pub max_speed: f64,
}

impl SoftMetrics {
    /// Of all soft bodies as they are. Waits for the device once a soft body.
    pub fn of(simulation: &mut Simulation) -> Result<Self> {
        let mut m = Self { largest_stretch: 1.0, least_volume: 1.0, ..Self::default() };
        let gravity = simulation.world().gravity().as_dvec3();
        let handles: Vec<_> = simulation.world().soft_bodies().collect();
        for handle in handles {
            let state = simulation.soft(handle)?;
            let desc = simulation.world().soft_desc(handle)?;
            m.bodies += 1;
            m.particles += desc.len() as u64;
            m.springs += desc.springs.len() as u64;
            m.triangles += desc.triangles.len() as u64;
            m.tetrahedra += desc.tetrahedra.len() as u64;
            let scale = f64::from(desc.gravity_scale.unwrap_or(1.0));
            for ((mass, p), v) in desc.masses.iter().zip(&state.positions).zip(&state.velocities) {
                let (mass, speed) = (f64::from(*mass), v.as_dvec3().length());
                m.kinetic_energy += 0.5 * mass * speed * speed;
                m.potential_energy -= mass * scale * gravity.dot(p.as_dvec3());
                m.max_speed = m.max_speed.max(speed);
            }
            m.elastic_energy += elastic_energy(desc, &state.positions);
            let stretch = stretch(desc, &state.positions);
            if stretch > m.largest_stretch {
                (m.largest_stretch, m.most_stretched) = (stretch, Some(handle));
            }
            let (at, rest) = (points(&state.positions), points(&desc.rest));
            for t in &desc.tetrahedra {
                let part = edges(&at, &t.corners).determinant() / edges(&rest, &t.corners).determinant();
                m.least_volume = m.least_volume.min(part);
            }
        }
        Ok(m)
    }

    /// All mechanical energy.
    pub fn energy(&self) -> f64 {
        self.kinetic_energy + self.potential_energy + self.elastic_energy
    }
}

fn points(list: &[Vec3]) -> impl Fn(u32) -> DVec3 {
    |corner| list[corner as usize].as_dvec3()
}

fn edges(at: &impl Fn(u32) -> DVec3, [a, b, c, d]: &[u32; 4]) -> DMat3 {
    DMat3::from_cols(at(*b) - at(*a), at(*c) - at(*a), at(*d) - at(*a))
}

/// Energy of a soft body's elements with its particles at `positions`, in joules: that of
/// [`solve::soft`](drystone_kernels::solve::soft), less what it is at rest.
pub fn elastic_energy(desc: &SoftDesc, positions: &[Vec3]) -> f64 {
    let (at, rest) = (points(positions), points(&desc.rest));
    let mut sum = 0.0;
    for s in desc.springs.iter().filter(|s| s.stiffness.is_finite()) {
        let length = (at(s.ends[1]) - at(s.ends[0])).length();
        sum += 0.5 * f64::from(s.stiffness) * (length - f64::from(s.rest)).powi(2);
    }
    for t in &desc.triangles {
        let [a, b, c] = t.corners;
        let (u, v) = (rest(b) - rest(a), rest(c) - rest(a));
        let (x, area) = (u.normalize(), 0.5 * u.cross(v).length());
        // Sides at rest (bx cx; 0 cy), inverted.
        let (bx, cx, cy) = (u.length(), v.dot(x), 2.0 * area / u.length());
        let (p, q) = (at(b) - at(a), at(c) - at(a));
        let (f0, f1) = (p / bx, (q - p * (cx / bx)) / cy);
        let (mu, l) = (f64::from(t.mu), f64::from(t.lambda) + f64::from(t.mu));
        let away = f0.cross(f1).length() - 1.0 - mu / l;
        let square = f0.length_squared() + f1.length_squared();
        sum += area * (0.5 * mu * (square - 2.0) + 0.5 * l * away * away - 0.5 * mu * mu / l);
    }
    for h in &desc.hinges {
        let turned = angle(&at, &h.corners) - angle(&rest, &h.corners);
        let turned = turned - std::f64::consts::TAU * (turned / std::f64::consts::TAU).round();
        sum += 0.5 * f64::from(h.stiffness) * turned * turned;
    }
    for t in &desc.tetrahedra {
        let shape = edges(&rest, &t.corners);
        let f = edges(&at, &t.corners) * shape.inverse();
        let square: f64 = [f.x_axis, f.y_axis, f.z_axis].iter().map(|c| c.length_squared()).sum();
        let (mu, l) = (f64::from(t.mu), f64::from(t.lambda) + f64::from(t.mu));
        let away = f.determinant() - 1.0 - mu / l;
        let volume = shape.determinant().abs() / 6.0;
        sum += volume * (0.5 * mu * (square - 3.0) + 0.5 * l * away * away - 0.5 * mu * mu / l);
    }
    sum
}

fn angle(at: &impl Fn(u32) -> DVec3, corners: &[u32; 4]) -> f64 {
    let [a, b, c, d] = corners.map(at);
    let e = b - a;
    let (left, right) = (e.cross(c - a), (d - a).cross(e));
    left.cross(right).dot(e.normalize()).atan2(left.dot(right))
}

/// The largest length of a side of an element, in lengths of that side at rest.
fn stretch(desc: &SoftDesc, positions: &[Vec3]) -> f64 {
    let (at, rest) = (points(positions), points(&desc.rest));
    let springs = desc.springs.iter().map(|s| (at(s.ends[1]) - at(s.ends[0])).length() / f64::from(s.rest));
    let corners = desc.triangles.iter().map(|t| &t.corners[..]).chain(desc.tetrahedra.iter().map(|t| &t.corners[..]));
    let sides =
        corners.flat_map(|corners| (0..corners.len()).flat_map(move |i| (0..i).map(move |j| (corners[i], corners[j]))));
    let sides = sides.map(|(a, b)| (at(b) - at(a)).length() / (rest(b) - rest(a)).length());
    springs.chain(sides).fold(0.0, f64::max)
}
