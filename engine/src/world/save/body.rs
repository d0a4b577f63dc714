//! Bodies and their colliders.

use super::hull::Pool;
use super::{Read, nonsense};
use crate::snapshot::{Reader, SnapshotError, Writer};
use crate::world::{BodyDesc, BodyEntry, BodyKind, Collider, Combine, ContactReports, HullTable, Shape};
use crate::world::{WorldError, finite3, not_negative};
use drystone_kernels::state::rigid::NONE;

const KINDS: [BodyKind; 3] = [BodyKind::Dynamic, BodyKind::Kinematic, BodyKind::Static];

impl BodyEntry {
    /// Mass and principal axes follow from the description.
    pub(super) fn save(&self, w: &mut Writer, pool: &Pool) {
        save_desc(&self.desc, w, pool);
        w.words(&self.colliders);
        w.words(&self.hulls);
        w.words(&self.joints);
        w.vec3(self.force);
        w.vec3(self.torque);
        w.f32(self.damping.0);
        w.f32(self.damping.1);
    }
}

fn save_desc(desc: &BodyDesc, w: &mut Writer, pool: &Pool) {
    w.u8(KINDS.iter().position(|k| *k == desc.kind).unwrap_or(0) as u8);
    w.vec3(desc.position);
    w.quat(desc.rotation);
    w.vec3(desc.linear_velocity);
    w.vec3(desc.angular_velocity);
    w.option(desc.gravity_scale, Writer::f32);
    w.option(desc.mass, Writer::f32);
    w.option(desc.inertia, Writer::vec3);
    w.vec3(desc.force);
    w.vec3(desc.torque);
    w.f32(desc.linear_damping);
    w.f32(desc.angular_damping);
    w.bool(desc.continuous);
    w.list(desc.colliders.iter(), |w, c| save_collider(c, w, pool));
}

fn load_desc(r: &mut Reader<'_>, pool: &Pool) -> Read<BodyDesc> {
    let kind = r.u8()?;
    let Some(&kind) = KINDS.get(usize::from(kind)) else {
        return nonsense("bodies", format!("there is no kind {kind}"));
    };
    Ok(BodyDesc {
        kind,
        position: r.vec3()?,
        rotation: r.quat()?,
        linear_velocity: r.vec3()?,
        angular_velocity: r.vec3()?,
        gravity_scale: r.option("gravity_scale", Reader::f32)?,
        mass: r.option("mass", Reader::f32)?,
        inertia: r.option("inertia", Reader::vec3)?,
        force: r.vec3()?,
        torque: r.vec3()?,
        linear_damping: r.f32()?,
        angular_damping: r.f32()?,
        continuous: r.bool("continuous")?,
        colliders: r.list(90, |r| load_collider(r, pool))?,
    })
}

fn save_collider(c: &Collider, w: &mut Writer, pool: &Pool) {
    match &c.shape {
        Shape::Sphere { radius } => {
            w.u8(0);
            w.f32(*radius);
        }
        Shape::Box { half } => {
            w.u8(1);
            w.vec3(*half);
        }
        Shape::Capsule { half_height, radius } => {
            w.u8(2);
            w.f32(*half_height);
            w.f32(*radius);
        }
        Shape::ConvexHull(hull) => {
            w.u8(3);
            w.u32(pool.index(hull));
        }
        Shape::HalfSpace => w.u8(4),
        Shape::Cylinder { half_height, radius } => {
            w.u8(5);
            w.f32(*half_height);
            w.f32(*radius);
        }
        Shape::Cone { half_height, radius } => {
            w.u8(6);
            w.f32(*half_height);
            w.f32(*radius);
        }
    }
    w.vec3(c.position);
    w.quat(c.rotation);
    let rule = |c: Combine| Combine::ALL.iter().position(|r| *r == c).unwrap_or(0) as u8;
    w.f32(c.density);
    w.f32(c.friction_static);
    w.f32(c.friction_dynamic);
    w.u8(rule(c.friction_combine));
    w.f32(c.friction_rolling);
    w.f32(c.friction_torsional);
    w.f32(c.restitution);
    w.u8(rule(c.restitution_combine));
    w.vec3(c.surface_velocity);
    w.vec3(c.surface_spin);
    w.bool(c.sensor);
    let ContactReports { begin, persist, end } = c.reports;
    [begin, persist, end].into_iter().for_each(|bit| w.bool(bit));
    w.f32(c.report_impulse);
    w.u32(c.groups);
    w.u32(c.mask);
}

fn load_collider(r: &mut Reader<'_>, pool: &Pool) -> Read<Collider> {
    let shape = match r.u8()? {
        0 => Shape::Sphere { radius: r.f32()? },
        1 => Shape::Box { half: r.vec3()? },
        2 => Shape::Capsule { half_height: r.f32()?, radius: r.f32()? },
        3 => Shape::ConvexHull(pool.get(r.u32()?)?.clone()),
        4 => Shape::HalfSpace,
        5 => Shape::Cylinder { half_height: r.f32()?, radius: r.f32()? },
        6 => Shape::Cone { half_height: r.f32()?, radius: r.f32()? },
        code => return nonsense("colliders", format!("there is no shape {code}")),
    };
    let rule = |r: &mut Reader<'_>| {
        let code = r.u8()?;
        let rule = Combine::ALL.get(usize::from(code)).copied();
        rule.ok_or_else(|| SnapshotError::content("colliders", format!("there is no rule {code}")))
    };
    Ok(Collider {
        shape,
        position: r.vec3()?,
        rotation: r.quat()?,
        density: r.f32()?,
        friction_static: r.f32()?,
        friction_dynamic: r.f32()?,
        friction_combine: rule(r)?,
        friction_rolling: r.f32()?,
        friction_torsional: r.f32()?,
        restitution: r.f32()?,
        restitution_combine: rule(r)?,
        surface_velocity: r.vec3()?,
        surface_spin: r.vec3()?,
        sensor: r.bool("sensor")?,
        reports: ContactReports { begin: r.bool("reports")?, persist: r.bool("reports")?, end: r.bool("reports")? },
        report_impulse: r.f32()?,
        groups: r.u32()?,
        mask: r.u32()?,
    })
}

/// The body of slot `index`.
pub(super) fn load(r: &mut Reader<'_>, pool: &Pool, table: &HullTable, index: u32) -> Read<BodyEntry> {
    let wrong = |error: WorldError| SnapshotError::World { what: "body", index, error };
    let desc = load_desc(r, pool)?;
    let mass = desc.mass_properties().map_err(wrong)?;
    let (colliders, hulls, joints) = (r.words()?, r.words()?, r.words()?);
    let (force, torque, damping) = (r.vec3()?, r.vec3()?, (r.f32()?, r.f32()?));
    finite3("force", force).and_then(|()| finite3("torque", torque)).map_err(wrong)?;
    not_negative("linear_damping", damping.0).map_err(wrong)?;
    not_negative("angular_damping", damping.1).map_err(wrong)?;
    if colliders.len() != desc.colliders.len() || hulls.len() != desc.colliders.len() {
        let counts = (colliders.len(), hulls.len(), desc.colliders.len());
        return nonsense("bodies", format!("body {index} has slots for {counts:?} colliders"));
    }
    for (collider, hull) in desc.colliders.iter().zip(&hulls) {
        let fits = match &collider.shape {
            Shape::ConvexHull(of) => of.is_centred() && table.entry(*hull).is_some_and(|entry| entry.hull.is(of)),
            // What stands in for it where bodies are continuous.
            _ if *hull != NONE => table.entry(*hull).is_some_and(|entry| {
                collider.stand_in().is_some_and(|made| made.is_ok_and(|made| entry.hull.is(&made)))
            }),
            _ => true,
        };
        if !fits {
            return nonsense("bodies", format!("body {index} has hull {hull} for a collider that is another"));
        }
    }
    Ok(BodyEntry { desc, mass, colliders, hulls, force, torque, damping, joints })
}
