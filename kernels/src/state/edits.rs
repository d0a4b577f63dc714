//! Applies what the host changed since the last step: added and removed bodies, poses, velocities, impulses, forces.
//! Nothing is read back for that: what depends on where a body is, like an impulse at a point, is computed here. Writes
//! `bodies`, `poses`, `velocities` and forces.
//!
//! The records of a body are adjacent, in the order in which they take effect, and one lane applies them all. `gate`
//! sets their count back to 0, so a step that has to be repeated applies nothing twice.

use crate::detect::gate::counter;
use crate::gpu::{Load, Store, glam::Vec3};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::state::rigid::{Body, NONE, clear_row};
use crate::{layout, stage};

stage! {
    "edits" each 64 {
        read 0 edits: EditRecord,
        read 1 counters: u32,
        update 2 bodies: Body,
        update 3 poses: Pose,
        write 4 starts: Pose,
        update 5 velocities: Twist,
        update 6 previous: Vec3,
        update 7 forces: Twist,
        write 8 colours: u32,
        write 9 rows: u32,
    }
}

layout! {
    /// Push constants of `edits`.
    pub struct Push {
        /// Capacity of the list of records.
        pub limit: u32,
    }

    /// A change of one body; [`what`] says what `a`, `b` and `c` hold.
    pub struct EditRecord {
        /// The body.
        pub body: u32,
        /// One of [`what`].
        pub what: u32,
        /// First part.
        pub a: Vec3,
        /// Second part.
        pub b: Vec3,
        /// Third part.
        pub c: Vec3,
    }
}

/// Kinds of records, in the order in which the records of a body are applied.
pub mod what {
    /// A new body in the slot: mass and gravity scale in `a`, inertia in `b`, linear and angular damping in `c`, its
    /// kind and world, as `Body::kind` has them, in the bits from [`KIND_SHIFT`] on. Nothing of the slot's last body
    /// is kept.
    pub const BODY: u32 = 0;
    /// New pose: position, vector part and scalar part of the rotation.
    pub const POSE: u32 = 1;
    /// New velocity: linear, angular.
    pub const VELOCITY: u32 = 2;
    /// Velocity that takes the body to a pose: as [`POSE`], and 1 over the available seconds in `c.y`.
    pub const TARGET: u32 = 3;
    /// An impulse at its centre of mass: linear, angular.
    pub const IMPULSE: u32 = 4;
    /// An impulse at a point: linear, angular about that point, the point.
    pub const IMPULSE_AT: u32 = 5;
    /// Constant force from now on: force, torque.
    pub const FORCE: u32 = 6;
    /// Additional force at a point: force, torque about that point, the point.
    pub const FORCE_AT: u32 = 7;
    /// New damping: linear and angular in `a`.
    pub const DAMPING: u32 = 8;
    /// First bit of the kind of body in a [`BODY`] record.
    pub const KIND_SHIFT: u32 = 8;
    /// Largest number of records a body can have.
    pub const MOST: u32 = 9;
}

/// Change of velocity by an impulse.
#[inline(always)]
fn kick(body: &Body, pose: &Pose, impulse: &Twist) -> Twist {
    let inverse = Vec3::new(1.0 / body.inertia.x, 1.0 / body.inertia.y, 1.0 / body.inertia.z);
    Twist { linear: impulse.linear * (1.0 / body.mass), angular: inertia(&pose.rotation, inverse, impulse.angular) }
}

/// A force or impulse at a point, converted to the centre of mass.
#[inline(always)]
fn about_centre(edit: &EditRecord, pose: &Pose) -> Twist {
    Twist { linear: edit.a, angular: edit.b + (edit.c - pose.position).cross(edit.a) }
}

#[inline(always)]
fn apply(edit: &EditRecord, b: &mut Bindings<'_>) {
    let body = edit.body;
    let code = edit.what & ((1 << what::KIND_SHIFT) - 1);
    if code == what::BODY {
        let kind = edit.what >> what::KIND_SHIFT;
        b.bodies.put(
            body,
            Body {
                mass: edit.a.x,
                inertia: edit.b,
                gravity_scale: edit.a.y,
                kind,
                linear_damping: edit.c.x,
                angular_damping: edit.c.y,
            },
        );
        b.forces.put(body, Twist { linear: Vec3::ZERO, angular: Vec3::ZERO });
        b.colours.put(body, NONE);
        // An empty row: nothing that was cached for the slot's last body can be found.
        clear_row(&mut b.rows, body);
    } else if code == what::POSE {
        let pose = Pose { position: edit.a, rotation: Rotation::new(edit.b, edit.c.x) };
        b.poses.put(body, pose);
        b.starts.put(body, pose);
    } else if code == what::VELOCITY {
        b.velocities.put(body, Twist { linear: edit.a, angular: edit.b });
        b.previous.put(body, edit.a);
    } else if code == what::TARGET {
        let pose = b.poses.at(body);
        let turn = Rotation::new(edit.b, edit.c.x).then_after(&pose.rotation.inverse()).log();
        let linear = (edit.a - pose.position) * edit.c.y;
        b.velocities.put(body, Twist { linear, angular: turn * edit.c.y });
        b.previous.put(body, linear);
    } else if code == what::IMPULSE || code == what::IMPULSE_AT {
        let (record, pose, velocity) = (b.bodies.at(body), b.poses.at(body), b.velocities.at(body));
        let mut impulse = Twist { linear: edit.a, angular: edit.b };
        if code == what::IMPULSE_AT {
            impulse = about_centre(edit, &pose);
        }
        // A body that was disabled stays disabled.
        if record.is_dynamic() {
            let change = kick(&record, &pose, &impulse);
            let (linear, angular) = (velocity.linear + change.linear, velocity.angular + change.angular);
            b.velocities.put(body, Twist { linear, angular });
            // What it felt in the last step stays as it was.
            b.previous.put(body, b.previous.at(body) + change.linear);
        }
    } else if code == what::DAMPING {
        let mut record = b.bodies.at(body);
        (record.linear_damping, record.angular_damping) = (edit.a.x, edit.a.y);
        b.bodies.put(body, record);
    } else if code == what::FORCE {
        b.forces.put(body, Twist { linear: edit.a, angular: edit.b });
    } else {
        let (now, more) = (b.forces.at(body), about_centre(edit, &b.poses.at(body)));
        b.forces.put(body, Twist { linear: now.linear + more.linear, angular: now.angular + more.angular });
    }
}

/// Applies the records of one body, if its first is at `item`.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let given = b.counters.at(counter::EDITS);
    let count = if given < push.limit { given } else { push.limit };
    if item >= count {
        return;
    }
    let body = b.edits.at(item).body;
    if item > 0 && b.edits.at(item - 1).body == body {
        return;
    }
    let left = count - item;
    let most = if left < what::MOST { left } else { what::MOST };
    let mut k = 0;
    while k < most {
        let edit = b.edits.at(item + k);
        if edit.body != body {
            break;
        }
        apply(&edit, b);
        k += 1;
    }
}
