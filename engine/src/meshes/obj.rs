//! OBJ, as `tobj` reads it.

use super::{Mesh, MeshBudget, MeshError};
use crate::glam::Vec3;

pub(super) fn parse(bytes: &[u8], budget: &MeshBudget) -> Result<Mesh, MeshError> {
    let options =
        tobj::LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, ..Default::default() };
    // A material is none of the mesh, and its file is not opened.
    let no_materials = |_: &std::path::Path| Ok((Vec::new(), Default::default()));
    let (models, _) = tobj::load_obj_buf(&mut &*bytes, &options, no_materials)
        .map_err(|e| MeshError::Content(format!("no OBJ file: {e}")))?;
    let mut mesh = Mesh::default();
    for model in models {
        let first = mesh.points.len() as u32;
        mesh.points.extend(model.mesh.positions.chunks_exact(3).map(|p| Vec3::new(p[0], p[1], p[2])));
        let corners = model.mesh.indices.chunks_exact(3);
        budget.check(mesh.points.len(), mesh.triangles.len() + corners.len())?;
        mesh.triangles.extend(corners.map(|c| [c[0], c[1], c[2]].map(|c| c.saturating_add(first))));
    }
    Ok(mesh)
}
