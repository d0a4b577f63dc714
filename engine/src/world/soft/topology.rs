//! What does not change about a soft body: a colour for every particle, so that no two of one colour share an element, and
//! for every particle the elements that it is a corner of.

use super::SoftDesc;
use drystone_kernels::state::soft::soft_entry;

/// Colours and rows of a soft body; entries number elements within the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topology {
    /// Of every particle.
    pub colours: Vec<u32>,
    /// How many there are.
    pub colour_count: u32,
    /// Where the entries of every particle begin, and behind the last where they end.
    pub first: Vec<u32>,
    /// See [`soft_entry`].
    pub entries: Vec<u32>,
}

impl Topology {
    pub fn new(desc: &SoftDesc) -> Self {
        let mut listed: Vec<Vec<u32>> = vec![Vec::new(); desc.len()];
        let mut add = |kind: u32, index: usize, corners: &[u32]| {
            for (corner, particle) in (0..).zip(corners) {
                listed[*particle as usize].push(soft_entry::pack(kind, corner, index as u32));
            }
        };
        desc.springs.iter().enumerate().for_each(|(i, s)| add(soft_entry::SPRING, i, &s.ends));
        desc.triangles.iter().enumerate().for_each(|(i, t)| add(soft_entry::MEMBRANE, i, &t.corners));
        desc.hinges.iter().enumerate().for_each(|(i, h)| add(soft_entry::HINGE, i, &h.corners));
        desc.tetrahedra.iter().enumerate().for_each(|(i, t)| add(soft_entry::TETRAHEDRON, i, &t.corners));
        let (colours, colour_count) = colours(desc, &listed);
        let mut first = vec![0];
        first.extend(listed.iter().scan(0, |end, row| {
            *end += row.len() as u32;
            Some(*end)
        }));
        Self { colours, colour_count, first, entries: listed.concat() }
    }
}

/// Corners of the element of an entry.
fn corners(desc: &SoftDesc, entry: u32) -> &[u32] {
    let index = soft_entry::index(entry) as usize;
    match soft_entry::kind(entry) {
        soft_entry::SPRING => &desc.springs[index].ends,
        soft_entry::MEMBRANE => &desc.triangles[index].corners,
        soft_entry::HINGE => &desc.hinges[index].corners,
        _ => &desc.tetrahedra[index].corners,
    }
}

/// Greedy, those with the fewest uncoloured neighbours last (smallest-last): few colours for meshes, which have few
/// neighbours wherever one looks.
fn colours(desc: &SoftDesc, listed: &[Vec<u32>]) -> (Vec<u32>, u32) {
    let count = listed.len();
    let neighbours: Vec<Vec<u32>> = (0..count as u32)
        .map(|p| {
            let near = listed[p as usize].iter().flat_map(|e| corners(desc, *e));
            let mut near: Vec<u32> = near.copied().filter(|n| *n != p).collect();
            near.sort_unstable();
            near.dedup();
            near
        })
        .collect();
    // Buckets of particles by how many neighbours they have left.
    let mut degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    let most = degree.iter().copied().max().unwrap_or(0);
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); most + 1];
    (0..count).for_each(|p| buckets[degree[p]].push(p as u32));
    let mut taken = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut lowest = 0;
    while order.len() < count {
        let Some(particle) = buckets[lowest].pop() else {
            lowest += 1;
            continue;
        };
        let at = particle as usize;
        // A particle stands in every bucket that it ever belonged in.
        if taken[at] || degree[at] != lowest {
            continue;
        }
        taken[at] = true;
        order.push(particle);
        for near in &neighbours[at] {
            let near = *near as usize;
            if !taken[near] {
                degree[near] -= 1;
                buckets[degree[near]].push(near as u32);
            }
        }
        lowest = lowest.saturating_sub(1);
    }
    let mut colours = vec![u32::MAX; count];
    let mut used = 0;
    for particle in order.into_iter().rev() {
        let near = &neighbours[particle as usize];
        let taken: Vec<u32> = near.iter().map(|n| colours[*n as usize]).collect();
        let colour = (0..).find(|c| !taken.contains(c)).unwrap_or(0);
        colours[particle as usize] = colour;
        used = used.max(colour + 1);
    }
    (colours, used)
}
