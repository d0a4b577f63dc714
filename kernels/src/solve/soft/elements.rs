//! What elements ask of a particle, for the stages that have all of them bound: `soft_primal`, which moves particles at
//! once, and `soft_ask`, which leaves that to `soft_settle`.

/// Functions over the bindings of a stage: `asked_of_all` is what inertia and elements ask of a particle.
macro_rules! elements {
    () => {
        /// Vector from one particle to another at the start of the step.
        #[inline(always)]
        fn before(b: &Bindings<'_>, from: u32, to: u32) -> Vec3 {
            b.soft_positions.at(to) - b.soft_positions.at(from)
        }

        /// The present vector from one particle to another.
        #[inline(always)]
        fn now(b: &Bindings<'_>, from: u32, to: u32) -> Vec3 {
            before(b, from, to) + (b.soft_deltas.at(to) - b.soft_deltas.at(from))
        }

        /// Force and stiffness of one entry (element or attachment) on the particle.
        #[inline(always)]
        fn asked(particle: u32, entry: u32, dt: f32, b: &Bindings<'_>) -> $crate::solve::soft::Block {
            let (kind, corner, index) = (
                $crate::state::soft::soft_entry::kind(entry),
                $crate::state::soft::soft_entry::corner(entry),
                $crate::state::soft::soft_entry::index(entry),
            );
            let mut block = $crate::solve::soft::Block::none();
            if kind == $crate::state::soft::soft_entry::SPRING {
                let line = b.springs.at(index);
                let other = if corner == 0 { line.b } else { line.a };
                let ways = (now(b, particle, other), before(b, particle, other));
                block = $crate::solve::soft::spring(&line, &b.spring_states.at(index), ways.0, ways.1, dt);
            } else if kind == $crate::state::soft::soft_entry::MEMBRANE {
                let m = b.membranes.at(index);
                let sides = (now(b, m.a, m.b), now(b, m.a, m.c));
                block = $crate::solve::soft::membrane::membrane(
                    &m,
                    corner,
                    sides,
                    (before(b, m.a, m.b), before(b, m.a, m.c)),
                    dt,
                );
            } else if kind == $crate::state::soft::soft_entry::HINGE {
                let h = b.hinges.at(index);
                let wings =
                    $crate::solve::soft::hinge::Wings { b: now(b, h.a, h.b), c: now(b, h.a, h.c), d: now(b, h.a, h.d) };
                let were = $crate::solve::soft::hinge::Wings {
                    b: before(b, h.a, h.b),
                    c: before(b, h.a, h.c),
                    d: before(b, h.a, h.d),
                };
                block = $crate::solve::soft::hinge::hinge(&h, corner, &wings, &were, dt);
            } else if kind == $crate::state::soft::soft_entry::TETRAHEDRON {
                let t = b.tetrahedra.at(index);
                let edges = $crate::solve::soft::tetrahedron::Edges {
                    b: now(b, t.a, t.b),
                    c: now(b, t.a, t.c),
                    d: now(b, t.a, t.d),
                };
                let were = $crate::solve::soft::tetrahedron::Edges {
                    b: before(b, t.a, t.b),
                    c: before(b, t.a, t.c),
                    d: before(b, t.a, t.d),
                };
                block = $crate::solve::soft::tetrahedron::tetrahedron(&t, corner, &edges, &were, dt);
            } else {
                let (attachment, state) = (b.attachments.at(index), b.attachment_states.at(index));
                if (attachment.there != 0) & (state.broken == 0) {
                    let hook = $crate::solve::soft::Hook::of(&attachment, &b.starts, &b.deltas, &b.poses);
                    let off = hook.off(b.soft_positions.at(particle), b.soft_deltas.at(particle));
                    block.force = $crate::solve::soft::hold(&state, off);
                    block.add_scalar(state.k);
                }
            }
            block
        }

        /// The same of inertia and all of its entries.
        #[inline(always)]
        fn asked_of_all(index: u32, particle: &Particle, delta: Vec3, b: &Bindings<'_>) -> $crate::solve::soft::Block {
            let dt = b.params.at(0).dt;
            let away = delta - b.soft_targets.at(index);
            let mut block = $crate::solve::soft::Block::inertial(particle.mass, away, dt);
            let last = $crate::gpu::least(particle.end, b.soft_entries.len());
            let mut e = particle.first;
            while e < last {
                block = block.plus(&asked(index, b.soft_entries.at(e), dt, b));
                e += 1;
            }
            block
        }
    };
}

pub(crate) use elements;
