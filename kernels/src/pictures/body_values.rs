//! Writes the value that the colour of every body shows: its class, the sum of the normal forces on it, or its speed.

use crate::detect::manifold::{FourPoints, record, word};
use crate::gpu::{Load, Store, glam::UVec4, sqrt};
use crate::math::Twist;
use crate::pictures::common::{View, show};
use crate::state::rigid::{Body, Entry, POINTS, row};
use crate::{layout, stage};

stage! {
    "body_values" each 256 {
        read 0 views: View,
        read 1 bodies: Body,
        read 2 velocities: Twist,
        read 3 colours: u32,
        read 4 points: UVec4,
        read 5 rows: u32,
        read 6 entries: Entry,
        write 7 values: u32,
    }
}

layout! {
    /// Push constants of `body_values`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Looks at one body. Floats are stored as their bits, as `reduce` takes them.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let show = b.views.at(0).show;
    let mut value = 0.0;
    if b.bodies.at(item).is_dynamic() {
        if show == show::CLASS {
            value = b.colours.at(item) as f32;
        } else if show == show::SPEED {
            value = sqrt(b.velocities.at(item).linear.length_squared());
        } else if show == show::FORCE {
            let row = row(&b.rows, item, b.entries.len());
            let mut i = row.start;
            while i < row.end {
                // Points that are not there have no force.
                let points =
                    FourPoints::load(&b.points.window::<{ word::COUNT }>(record(b.entries.at(i).manifold())), 0);
                let mut k = 0;
                while k < POINTS {
                    value -= points.at(k).lambda.z;
                    k += 1;
                }
                i += 1;
            }
        }
    }
    b.values.put(item, value.to_bits());
}
