//! Constant topology of a soft body: a colour for every particle, such that no two particles of one colour share an
//! element, and for every particle the elements it is a corner of.

use super::SoftDesc;
use drystone_kernels::state::soft::soft_entry;
use drystone_kernels::state::soft_pairs::owns;
use std::collections::BTreeSet;

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
    /// Triangles of the surface.
    pub surface: Vec<[u32; 3]>,
    /// Pieces of its surface, if that meets soft ones: corners, and what belongs to it ([`owns`]).
    pub faces: Vec<[u32; 4]>,
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
        let surface = desc.surface_triangles();
        Self { colours, colour_count, first, entries: listed.concat(), surface, faces: faces(desc) }
    }
}

/// Pieces of the surface of a body that meets soft ones: its outer triangles, its springs, and particles that are in
/// neither. A corner or side belongs to the first piece that has it.
fn faces(desc: &SoftDesc) -> Vec<[u32; 4]> {
    if !desc.surface.is_some_and(|s| s.meets_soft) {
        return Vec::new();
    }
    let (mut corners, mut sides) = (vec![false; desc.len()], BTreeSet::new());
    // Springs inside of solids and across cloth belong to no surface.
    let mut covered = vec![false; desc.len()];
    let cells = desc.tetrahedra.iter().flat_map(|t| t.corners).chain(desc.triangles.iter().flat_map(|t| t.corners));
    cells.for_each(|c| covered[c as usize] = true);
    let lines = desc.springs.iter().map(|s| s.ends).filter(|[a, b]| !covered[*a as usize] || !covered[*b as usize]);
    let triangles = desc.outside().into_iter().map(|[a, b, c]| ([a, b, c], owns::TRIANGLE));
    let mut bare = vec![true; desc.len()];
    let pieces: Vec<_> = triangles.chain(lines.map(|[a, b]| ([a, b, b], 0))).collect();
    pieces.iter().flat_map(|(c, _)| c).for_each(|c| bare[*c as usize] = false);
    let points = (0..desc.len() as u32).filter(|p| bare[*p as usize] && !covered[*p as usize]);
    let points: Vec<_> = points.map(|p| ([p, p, p], 0)).collect();
    let mut found = Vec::new();
    for (c, mut own) in pieces.into_iter().chain(points) {
        for i in 0..3 {
            let (one, next) = (c[i], c[(i + 1) % 3]);
            if !std::mem::replace(&mut corners[one as usize], true) {
                own |= owns::CORNER << i;
            }
            if one != next && sides.insert((one.min(next), one.max(next))) {
                own |= owns::SIDE << i;
            }
        }
        found.push([c[0], c[1], c[2], own]);
    }
    found
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

/// Greedy colouring in smallest-last order: particles with the fewest remaining neighbours are coloured last. Needs
/// few colours for meshes, where every particle has few neighbours.
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
        // A particle stays in every bucket it was ever put into; outdated entries are skipped here.
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
