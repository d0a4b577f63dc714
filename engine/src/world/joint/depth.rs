//! Length of the longest chain of joints in a world. It determines how many iterations a cold step gets.

use super::Joints;
use crate::world::{BodyHandle, BodyKind, World};

impl World {
    /// The number of bodies in series that joints connect to something fixed: over the joints that are not broken,
    /// the largest shortest-path distance from the world, or from a body that forces do not move. 0 without any such
    /// joint. Assemblies that nothing holds are not counted, since they carry no load at the start; nor are those of
    /// more than `largest` bodies.
    pub(crate) fn joint_depth(&self, largest: usize) -> u32 {
        let joints = self.joint_store();
        let moves = |body: BodyHandle| self.desc(body).is_ok_and(|d| d.kind == BodyKind::Dynamic);
        let bodies = self.body_slots() as usize;
        let mut depth = vec![u32::MAX; bodies];
        // Neighbours of body i are at first[i] to first[i + 1].
        let mut first = vec![0; bodies + 1];
        let mut reached = Vec::new();
        let pairs = ends(joints);
        for &(a, b) in &pairs {
            match b.filter(|b| moves(a) && moves(*b)) {
                Some(b) => {
                    first[a.index() as usize] += 1;
                    first[b.index() as usize] += 1;
                }
                None => {
                    let held = [Some(a), b].into_iter().flatten().filter(|body| moves(*body));
                    reached.extend(held.map(|body| body.index() as usize));
                }
            }
        }
        let mut sum = 0;
        for place in &mut first {
            sum += *place;
            *place = sum;
        }
        let mut next = vec![0; sum];
        for &(a, b) in &pairs {
            if let Some(b) = b.filter(|b| moves(a) && moves(*b)) {
                for (one, other) in [(a, b), (b, a)] {
                    let place = &mut first[one.index() as usize];
                    *place -= 1;
                    next[*place] = other.index() as usize;
                }
            }
        }
        // Bodies of assemblies that are too large count as already reached.
        let mut seen = vec![false; bodies];
        for start in 0..bodies {
            let mut members = Vec::new();
            let mut open = vec![start];
            while let Some(body) = open.pop() {
                if !std::mem::replace(&mut seen[body], true) {
                    members.push(body);
                    open.extend_from_slice(&next[first[body]..first[body + 1]]);
                }
            }
            if members.len() > largest {
                members.into_iter().for_each(|body| depth[body] = 0);
            }
        }
        let mut level = 0;
        while !reached.is_empty() {
            let mut beyond = Vec::new();
            let mut any = false;
            for body in reached {
                if depth[body] == u32::MAX {
                    depth[body] = level;
                    any = true;
                    beyond.extend_from_slice(&next[first[body]..first[body + 1]]);
                }
            }
            level += u32::from(any);
            reached = beyond;
        }
        level
    }
}

/// The bodies of every joint that is not broken.
fn ends(joints: &Joints) -> Vec<(BodyHandle, Option<BodyHandle>)> {
    joints.entries().filter(|(_, j)| !j.broken).map(|(_, j)| (j.desc.body_a, j.desc.body_b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glam::Vec3;
    use crate::world::{BodyDesc, Collider, JointDesc};

    fn ball(world: &mut World) -> BodyHandle {
        world.add(BodyDesc::dynamic().with(Collider::sphere(0.1))).unwrap()
    }

    #[test]
    fn bodies_are_counted_from_what_holds_them_by_the_shortest_way() {
        let mut world = World::new();
        let links: Vec<_> = (0..7).map(|_| ball(&mut world)).collect();
        assert_eq!(world.joint_depth(100), 0);
        for pair in links.windows(2) {
            world.add_joint(JointDesc::ball(pair[1], pair[0])).unwrap();
        }
        assert_eq!(world.joint_depth(100), 0, "nothing holds it");
        let last = world.add_joint(JointDesc::ball(links[0], None)).unwrap();
        assert_eq!(world.joint_depth(100), 7);
        let fixed = world.add(BodyDesc::fixed().at(Vec3::X).with(Collider::sphere(0.1))).unwrap();
        world.add_joint(JointDesc::ball(fixed, links[6])).unwrap();
        assert_eq!(world.joint_depth(100), 4, "held at both ends");
        world.remove_joint(last).unwrap();
        assert_eq!(world.joint_depth(100), 7, "by the other end");
        assert_eq!(world.joint_depth(7), 7);
        assert_eq!(world.joint_depth(6), 0, "too large");
    }
}
