//! Meshes from files, as soft bodies: triangles from OBJ and glTF, tetrahedra from Gmsh and TetGen.
//!
//! Files are untrusted. What is wrong with one is an error that says where, nothing of it is dropped silently, and a
//! [`MeshBudget`] bounds what it may ask for. No function here opens a file that another one names: glTF has its data
//! inside (`.glb`, or `data:` URIs), materials of OBJ are not read.
//!
//! ```
//! use drystone::meshes::{Mesh, MeshBudget};
//! use drystone::world::{Cloth, World};
//!
//! let text = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n";
//! let (mesh, told) = Mesh::from_obj(text.as_bytes(), &MeshBudget::default())?.tidy();
//! assert_eq!((mesh.triangles.len(), told.flat), (2, 0));
//! World::new().add_soft(mesh.cloth(&Cloth::default()))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod gltf;
mod gmsh;
mod lines;
mod obj;
mod tetgen;

use crate::glam::Vec3;
use crate::world::{Cloth, SoftDesc, Solid};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Points, and the triangles and tetrahedra between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Points, metres.
    pub points: Vec<Vec3>,
    /// Triangles, by the numbers of their corners from 0 on.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// What a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeshBudget {
    /// Most bytes.
    pub bytes: u64,
    /// Most points.
    pub points: usize,
    /// Most triangles, and most tetrahedra.
    pub elements: usize,
}

impl Default for MeshBudget {
    /// 256 MiB, a million points, four million elements.
    fn default() -> Self {
        Self { bytes: 256 << 20, points: 1_000_000, elements: 4_000_000 }
    }
}

impl MeshBudget {
    /// The same with at most so many points.
    #[must_use]
    pub fn with_points(mut self, points: usize) -> Self {
        self.points = points;
        self
    }

    /// The same with at most so many triangles and tetrahedra.
    #[must_use]
    pub fn with_elements(mut self, elements: usize) -> Self {
        self.elements = elements;
        self
    }
}

/// Why a mesh was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A file that cannot be read.
    #[error("{file}: {problem}")]
    File {
        /// Which.
        file: String,
        /// Why.
        problem: String,
    },
    /// A line of a text that makes no sense.
    #[error("line {line}: {problem}")]
    Line {
        /// Which, from 1 on.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Contents that make no sense.
    #[error("{0}")]
    Content(String),
    /// More than there may be.
    #[error("more than {limit} {what}: make a coarser mesh, or allow more in `MeshBudget`")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
}

/// What [`Mesh::tidy`] took out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tidied {
    /// Points at the place of another one, which became that one.
    pub doubled: usize,
    /// Points on no triangle and no tetrahedron.
    pub unused: usize,
    /// Triangles without an area, and tetrahedra without a volume.
    pub flat: usize,
    /// Elements with the corners of another one.
    pub repeated: usize,
}

impl Mesh {
    /// A mesh from a file, told apart by its ending: `.obj`, `.gltf`, `.glb`, `.msh`, or `.node` with the `.ele` of the
    /// same name beside it.
    pub fn read(path: impl AsRef<Path>, budget: &MeshBudget) -> Result<Self, MeshError> {
        let path = path.as_ref();
        let wrong = |problem: String| MeshError::File { file: path.display().to_string(), problem };
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let load = |path: &Path| {
            let wrong =
                |e: std::io::Error| MeshError::File { file: path.display().to_string(), problem: e.to_string() };
            let file = std::fs::File::open(path).map_err(wrong)?;
            let mut bytes = Vec::new();
            // One byte more than there may be: a pipe has no length to be asked for.
            std::io::Read::read_to_end(&mut std::io::Read::take(file, budget.bytes.saturating_add(1)), &mut bytes)
                .map_err(wrong)?;
            Ok(bytes)
        };
        let made = match ending.as_str() {
            "obj" => Self::from_obj(&load(path)?, budget),
            "gltf" | "glb" => Self::from_gltf(&load(path)?, budget),
            "msh" => Self::from_gmsh(&load(path)?, budget),
            "node" | "ele" => {
                let (node, ele) = (load(&path.with_extension("node"))?, load(&path.with_extension("ele"))?);
                Self::from_tetgen(&node, &ele, budget)
            }
            other => return Err(wrong(format!("`.{other}` is none of .obj, .gltf, .glb, .msh, .node"))),
        };
        made.map_err(|e| if matches!(e, MeshError::File { .. }) { e } else { wrong(e.to_string()) })
    }

    /// Triangles of an OBJ file. Polygons are cut into triangles; groups and objects become one mesh.
    pub fn from_obj(bytes: &[u8], budget: &MeshBudget) -> Result<Self, MeshError> {
        budget.bytes(bytes)?;
        obj::parse(bytes, budget)?.checked(budget)
    }

    /// Triangles of a glTF file, text or binary, in the space of its scene. Its data must be inside.
    pub fn from_gltf(bytes: &[u8], budget: &MeshBudget) -> Result<Self, MeshError> {
        budget.bytes(bytes)?;
        gltf::parse(bytes, budget)?.checked(budget)
    }

    /// Triangles and tetrahedra of a Gmsh file, versions 2.2 and 4.1 in ASCII. Other elements are left out.
    pub fn from_gmsh(bytes: &[u8], budget: &MeshBudget) -> Result<Self, MeshError> {
        budget.bytes(bytes)?;
        gmsh::parse(bytes, budget)?.checked(budget)
    }

    /// Tetrahedra of a pair of files of TetGen: `.node` and `.ele`.
    pub fn from_tetgen(node: &[u8], ele: &[u8], budget: &MeshBudget) -> Result<Self, MeshError> {
        budget.bytes(node)?;
        budget.bytes(ele)?;
        tetgen::parse(node, ele, budget)?.checked(budget)
    }

    /// Checks what no format guarantees: points are finite, corners are points.
    fn checked(self, budget: &MeshBudget) -> Result<Self, MeshError> {
        budget.check(self.points.len(), self.triangles.len().max(self.tetrahedra.len()))?;
        if let Some(i) = self.points.iter().position(|p| !p.is_finite()) {
            return Err(MeshError::Content(format!("point {i} is not finite")));
        }
        let corners = self.triangles.iter().flatten().chain(self.tetrahedra.iter().flatten());
        if let Some(corner) = corners.copied().find(|c| *c as usize >= self.points.len()) {
            let count = self.points.len();
            return Err(MeshError::Content(format!("an element has corner {corner}, and there are {count} points")));
        }
        if self.triangles.is_empty() && self.tetrahedra.is_empty() {
            return Err(MeshError::Content("there are no triangles and no tetrahedra in it".to_owned()));
        }
        Ok(self)
    }

    /// Every point times `scale`, then moved by `by`.
    #[must_use]
    pub fn placed(mut self, scale: f32, by: Vec3) -> Self {
        self.points.iter_mut().for_each(|p| *p = *p * scale + by);
        self
    }

    /// Makes points at the same place one, so that sides are shared, and leaves out what a soft body cannot have:
    /// elements that are flat or there twice, and points on none. Says what it took out.
    #[must_use]
    pub fn tidy(self) -> (Self, Tidied) {
        let mut told = Tidied::default();
        let mut places: BTreeMap<[u32; 3], u32> = BTreeMap::new();
        let same: Vec<u32> = (0..)
            .zip(&self.points)
            // Of the two zeros there is one.
            .map(|(i, p)| *places.entry((*p + 0.0).to_array().map(f32::to_bits)).or_insert(i))
            .collect();
        let at = |corner: u32| self.points[corner as usize];
        let solid = |extent: f32, sides: f32| extent.is_finite() && extent > 2e-5 * sides;
        let mut seen = BTreeSet::new();
        let mut fresh = |corners: &[u32], told: &mut Tidied| {
            let mut key = corners.to_vec();
            key.sort_unstable();
            let fresh = seen.insert(key);
            told.repeated += usize::from(!fresh);
            fresh
        };
        let mut triangles: Vec<[u32; 3]> = Vec::new();
        for corners in &self.triangles {
            let corners = corners.map(|c| same[c as usize]);
            let [a, b, c] = corners.map(at);
            let (u, v) = (b - a, c - a);
            if !solid(u.cross(v).length(), u.length() * v.length()) {
                told.flat += 1;
            } else if fresh(&corners, &mut told) {
                triangles.push(corners);
            }
        }
        let mut tetrahedra: Vec<[u32; 4]> = Vec::new();
        for corners in &self.tetrahedra {
            let corners = corners.map(|c| same[c as usize]);
            let [a, b, c, d] = corners.map(at);
            let (u, v, w) = (b - a, c - a, d - a);
            if !solid(u.dot(v.cross(w)).abs(), u.length() * v.length() * w.length()) {
                told.flat += 1;
            } else if fresh(&corners, &mut told) {
                tetrahedra.push(corners);
            }
        }
        let mut used = vec![false; self.points.len()];
        triangles.iter().flatten().chain(tetrahedra.iter().flatten()).for_each(|c| used[*c as usize] = true);
        let mut number = vec![0; self.points.len()];
        let mut points = Vec::new();
        for (i, used) in used.into_iter().enumerate() {
            number[i] = points.len() as u32;
            if used {
                points.push(self.points[i]);
            } else if same[i] == i as u32 {
                told.unused += 1;
            } else {
                told.doubled += 1;
            }
        }
        triangles.iter_mut().flatten().chain(tetrahedra.iter_mut().flatten()).for_each(|c| *c = number[*c as usize]);
        (Self { points, triangles, tetrahedra }, told)
    }

    /// Its triangles as cloth.
    pub fn cloth(&self, cloth: &Cloth) -> SoftDesc {
        SoftDesc::from_triangles(self.points.clone(), &self.triangles, cloth)
    }

    /// Its tetrahedra as a solid.
    pub fn solid(&self, solid: &Solid) -> SoftDesc {
        SoftDesc::from_tetrahedra(self.points.clone(), &self.tetrahedra, solid)
    }
}

impl MeshBudget {
    fn bytes(&self, bytes: &[u8]) -> Result<(), MeshError> {
        let limit = self.bytes;
        if bytes.len() as u64 > limit { Err(MeshError::TooMany { what: "bytes", limit }) } else { Ok(()) }
    }

    /// Whether there may be so many points and elements of a kind.
    fn check(&self, points: usize, elements: usize) -> Result<(), MeshError> {
        let parts = [("points", points, self.points), ("triangles or tetrahedra", elements, self.elements)];
        match parts.into_iter().find(|(_, count, limit)| count > limit) {
            Some((what, _, limit)) => Err(MeshError::TooMany { what, limit: limit as u64 }),
            None => Ok(()),
        }
    }
}
