//! Convex hulls, computed once from the user's points: vertices, faces, edges and mass properties.

use super::quickhull::{self, Trouble};
use super::{WorldError, finite3};
use crate::glam::{DMat3, DVec3, Vec3};
use drystone_kernels::manifest::fnv1a;
use drystone_kernels::state::rigid::{HullEdge, HullFace};
use std::collections::HashMap;

/// Vertices that a hull has at most.
pub const MAX_HULL_VERTICES: usize = 64;

/// The convex hull of a cloud of points: flat faces, straight edges, up to [`MAX_HULL_VERTICES`] vertices.
///
/// Details finer than a ten-thousandth of its size are dropped: points that close to a face or an edge become part of
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Vertices relative to the centre of mass, metres.
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) faces: Vec<HullFace>,
    /// The loops of all faces, one after the other.
    pub(crate) loops: Vec<u32>,
    pub(crate) edges: Vec<HullEdge>,
    /// Half the sides of its bounding box along the axes, metres.
    pub(crate) half: Vec3,
    /// Half of the smallest width perpendicular to a face, metres.
    pub(crate) thickness: f32,
    pub(super) centre: DVec3,
    pub(super) volume: f64,
    /// Inertia about the centre of mass, for density 1.
    pub(super) inertia: DMat3,
    /// Of its vertices.
    pub(super) hash: u64,
}

impl Hull {
    /// Computes the hull of `points`; points inside it are dropped. An error when a point is not finite, when all lie
    /// in a plane, or when the hull has more than [`MAX_HULL_VERTICES`] vertices.
    pub fn new(points: &[Vec3]) -> Result<Self, WorldError> {
        if points.len() < 4 {
            return Err(WorldError::HullPoints { points: points.len() });
        }
        for point in points {
            finite3("hull point", *point)?;
        }
        let cloud: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
        let (low, high) = cloud.iter().fold((cloud[0], cloud[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        let (middle, half) = ((low + high) * 0.5, ((high - low) * 0.5).max_element());
        let out_of_range = |field, value: f64| {
            Err(WorldError::OutOfRange { field, value: value as f32, must: "between 1e-5 and 1e5 m" })
        };
        if half > 1e5 {
            return out_of_range("hull half size", half);
        }
        let flat = |width: f64| WorldError::FlatHull { width: width as f32, size: (2.0 * half) as f32 };
        if half == 0.0 {
            return Err(flat(0.0));
        }
        let noise = f64::from(f32::EPSILON) * low.abs().max(high.abs()).max_element();
        let solid = quickhull::around(&cloud, middle, half, noise).map_err(|trouble| match trouble {
            Trouble::Flat(width) => flat(width),
            Trouble::Round => WorldError::HullVertices { limit: MAX_HULL_VERTICES },
        })?;
        if solid.vertices.len() > MAX_HULL_VERTICES {
            return Err(WorldError::HullVertices { limit: MAX_HULL_VERTICES });
        }
        let corners: Vec<DVec3> = solid.vertices.iter().map(|&v| cloud[v] - middle).collect();
        let (volume, centre, inertia) = moments(&corners, &solid.faces);
        let vertices: Vec<Vec3> = corners.iter().map(|v| (*v - centre).as_vec3()).collect();
        let (faces, width) = planes(&vertices, &solid.faces);
        if width * 0.5 < 1e-5 {
            return out_of_range("hull half thickness", width * 0.5);
        }
        // A closed surface contains every edge twice, once in each direction.
        let edges = edges(&vertices, &faces, &solid.faces).ok_or_else(|| flat(width))?;
        let (low, high) = vertices.iter().fold((vertices[0], vertices[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        let hash = fnv1a(bytemuck::cast_slice::<_, u8>(&vertices).iter().copied());
        Ok(Self {
            vertices,
            faces,
            loops: solid.faces.concat(),
            edges,
            half: (high - low) * 0.5,
            thickness: (width * 0.5) as f32,
            centre: centre + middle,
            volume,
            inertia,
            hash,
        })
    }

    /// Rebuilds a saved hull from its vertices, the loops of its faces, and the values that were computed from the
    /// unrounded points. Everything else is derived. An error says why the data is no hull. Its vertices need not be
    /// relative to the centre of mass: see [`Hull::is_centred`].
    pub(super) fn from_parts(
        vertices: Vec<Vec3>,
        loops: Vec<Vec<u32>>,
        centre: DVec3,
        volume: f64,
        inertia: DMat3,
    ) -> Result<Self, String> {
        let (corners, count) = (loops.iter().map(Vec::len).sum::<usize>(), vertices.len());
        if !(4..=MAX_HULL_VERTICES).contains(&count) || !vertices.iter().all(|v| v.is_finite()) {
            return Err(format!("{count} vertices"));
        }
        let fits = loops.iter().all(|face| face.len() >= 3 && face.iter().all(|v| (*v as usize) < count));
        // Euler: every edge is in two loops.
        if !fits || corners % 2 != 0 || count + loops.len() != corners / 2 + 2 {
            return Err(format!("{} faces with {corners} corners, and {count} vertices", loops.len()));
        }
        let (low, high) = vertices.iter().fold((vertices[0], vertices[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        let half = (high - low) * 0.5;
        let size = f64::from(half.max_element());
        if !(1e-5..=1.1e5).contains(&size) {
            return Err(format!("half size {size} m"));
        }
        let (faces, width) = planes(&vertices, &loops);
        let thickness = (width * 0.5) as f32;
        if thickness.is_nan() || thickness < 0.9e-5 {
            return Err(format!("half thickness {thickness} m"));
        }
        // Convex: every face lies in the plane that has all vertices on one side.
        let off = |face: &HullFace, v: u32| face.offset - face.normal.dot(vertices[v as usize]);
        let flat = |(face, corners): (&HullFace, &Vec<u32>)| {
            face.offset > 0.0 && corners.iter().all(|v| off(face, *v) <= 1e-3 * size as f32)
        };
        if !faces.iter().zip(&loops).all(flat) {
            return Err("its faces are not those of a convex body around its origin".to_owned());
        }
        let edges = edges(&vertices, &faces, &loops).ok_or("its surface is not closed")?;
        let exact: Vec<DVec3> = vertices.iter().map(|v| v.as_dvec3()).collect();
        let (found, _, about) = moments(&exact, &loops);
        let scale = (about.x_axis.length() + about.y_axis.length() + about.z_axis.length()).max(f64::MIN_POSITIVE);
        let apart = inertia - about;
        let apart = apart.x_axis.length() + apart.y_axis.length() + apart.z_axis.length();
        let close = (volume - found).abs() <= 1e-3 * found && apart <= 1e-2 * scale;
        let placed = centre.abs().max_element() <= 1e30;
        if !(found > 0.0 && close && placed) {
            return Err(format!("volume {volume}, inertia or centre {centre} are not those of its shape"));
        }
        let hash = fnv1a(bytemuck::cast_slice::<_, u8>(&vertices).iter().copied());
        Ok(Self { loops: loops.concat(), vertices, faces, edges, half, thickness, centre, volume, inertia, hash })
    }

    /// The same hull with its tables relative to the origin of its points instead of the centre of mass. They are made
    /// from the vertices as they are then, so that a saved one is the same again.
    pub(super) fn around_origin(mut self) -> Self {
        let shift = self.centre.as_vec3();
        self.vertices.iter_mut().for_each(|v| *v += shift);
        let loops: Vec<Vec<u32>> = self.faces().map(|(_, corners)| corners.to_vec()).collect();
        self.faces = planes(&self.vertices, &loops).0;
        self.edges = edges(&self.vertices, &self.faces, &loops).unwrap_or(self.edges);
        self.hash = fnv1a(bytemuck::cast_slice::<_, u8>(&self.vertices).iter().copied());
        self.centre = DVec3::ZERO;
        self
    }

    /// Whether its vertices are relative to its centre of mass, as those of a body's collider are.
    pub(super) fn is_centred(&self) -> bool {
        let corners: Vec<DVec3> = self.vertices.iter().map(|v| v.as_dvec3()).collect();
        let loops: Vec<Vec<u32>> = self.faces().map(|(_, corners)| corners.to_vec()).collect();
        moments(&corners, &loops).1.length() <= 1e-3 * f64::from(self.half.max_element())
    }

    /// Its vertices, in the space of the user's points.
    pub fn vertices(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.vertices.iter().map(|v| (v.as_dvec3() + self.centre).as_vec3())
    }

    /// Its faces: the outward normal, and the vertices by index, counter-clockwise from outside.
    pub fn faces(&self) -> impl Iterator<Item = (Vec3, &[u32])> {
        self.faces.iter().map(|f| (f.normal, &self.loops[f.first as usize..(f.first + f.count) as usize]))
    }

    /// How many edges it has.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Cubic metres.
    pub fn volume(&self) -> f32 {
        self.volume as f32
    }

    /// Centre of mass.
    pub fn centre(&self) -> Vec3 {
        self.centre.as_vec3()
    }

    /// Whether both hulls are equal relative to their centres of mass, which is all that the device's tables hold.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.vertices == other.vertices && self.faces == other.faces
    }
}

/// Volume, centre of mass, and inertia about it for density 1: the sum over tetrahedra from the origin to triangles.
fn moments(corners: &[DVec3], faces: &[Vec<u32>]) -> (f64, DVec3, DMat3) {
    let outer = |v: DVec3| DMat3::from_cols(v * v.x, v * v.y, v * v.z);
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for face in faces {
        let at = |i: usize| corners[face[i] as usize];
        for i in 1..face.len() - 1 {
            let (a, b, c) = (at(0), at(i), at(i + 1));
            let (six, sum) = (a.dot(b.cross(c)), a + b + c);
            volume += six / 6.0;
            first += sum * (six / 24.0);
            second += (outer(a) + outer(b) + outer(c) + outer(sum)) * (six / 120.0);
        }
    }
    let centre = first / volume;
    let about = second - outer(centre) * volume;
    let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
    (volume, centre, DMat3::from_diagonal(DVec3::splat(trace)) - about)
}

/// Planes of the faces with every vertex on their inner side, and the smallest width of the hull perpendicular to
/// one.
fn planes(vertices: &[Vec3], loops: &[Vec<u32>]) -> (Vec<HullFace>, f64) {
    let corners: Vec<DVec3> = vertices.iter().map(|v| v.as_dvec3()).collect();
    let (mut first, mut least) = (0, f64::MAX);
    let faces = loops.iter().map(|face| {
        let at = |i: usize| corners[face[i % face.len()] as usize];
        let area: DVec3 = (1..face.len() - 1).map(|i| (at(i) - at(0)).cross(at(i + 1) - at(0))).sum();
        let normal = area.normalize_or_zero().as_vec3();
        let along = |v: &DVec3| normal.as_dvec3().dot(*v);
        let offset = corners.iter().map(along).fold(f64::MIN, f64::max);
        least = least.min(offset - corners.iter().map(along).fold(f64::MAX, f64::min));
        let count = face.len() as u32;
        first += count;
        HullFace { normal, offset: offset as f32, first: first - count, count }
    });
    (faces.collect(), least)
}

/// Edges with the normals of both faces, or `None` when some edge has not two.
fn edges(vertices: &[Vec3], faces: &[HullFace], loops: &[Vec<u32>]) -> Option<Vec<HullEdge>> {
    let mut owner = HashMap::new();
    let mut edges = Vec::new();
    for (face, corners) in loops.iter().enumerate() {
        let next = corners.iter().cycle().skip(1);
        for edge in corners.iter().copied().zip(next.copied()) {
            if owner.insert(edge, face).is_some() {
                return None;
            }
            edges.push(edge);
        }
    }
    let mut list = Vec::with_capacity(edges.len() / 2);
    for (from, to) in edges {
        let (left, right) = (*owner.get(&(from, to))?, *owner.get(&(to, from))?);
        if from < to {
            let start = vertices[from as usize];
            let along = vertices[to as usize] - start;
            list.push(HullEdge { start, along, left: faces[left].normal, right: faces[right].normal });
        }
    }
    Some(list)
}

/// The box with half sides of 1: entry 0 of the device's tables, which boxes use when they meet hulls.
pub(crate) fn unit_box() -> Result<Hull, WorldError> {
    let sign = |i: u32, bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
    Hull::new(&(0..8).map(|i| Vec3::new(sign(i, 1), sign(i, 2), sign(i, 4))).collect::<Vec<_>>())
}
