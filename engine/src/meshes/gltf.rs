//! glTF 2.0, as the crate `gltf` checks it. Accessors are read here, with every offset held against the data.

use super::{Mesh, MeshBudget, MeshError};
use crate::glam::{Mat4, Vec3};
use gltf::accessor::{DataType, Dimensions};
use gltf::json::{
    Path,
    validation::{Checked, Validate},
};
use gltf::{Accessor, Gltf, Node, Semantic, buffer, mesh::Mode};

fn wrong<T>(problem: impl Into<String>) -> Result<T, MeshError> {
    Err(MeshError::Content(problem.into()))
}

pub(super) fn parse(bytes: &[u8], budget: &MeshBudget) -> Result<Mesh, MeshError> {
    let file = checked(bytes)?;
    let mut buffers = Vec::new();
    let mut room = budget.bytes;
    for b in file.buffers() {
        let data = match b.source() {
            buffer::Source::Bin => match &file.blob {
                Some(blob) => blob.clone(),
                None => return wrong("it has no binary chunk, and a buffer that is in one"),
            },
            buffer::Source::Uri(uri) => inside(uri)?,
        };
        room = match room.checked_sub(data.len() as u64) {
            Some(left) => left,
            None => return Err(MeshError::TooMany { what: "bytes", limit: budget.bytes }),
        };
        buffers.push(data);
    }
    let mut mesh = Mesh::default();
    let roots: Vec<Node<'_>> = match file.default_scene().or_else(|| file.scenes().next()) {
        Some(scene) => scene.nodes().collect(),
        None => {
            for m in file.meshes() {
                add(&mut mesh, &m, Mat4::IDENTITY, &buffers, budget)?;
            }
            return Ok(mesh);
        }
    };
    // A node belongs to one parent, so none comes twice; a file whose nodes are their own children is none.
    let mut seen = vec![false; file.nodes().len()];
    let mut open: Vec<_> = roots.into_iter().map(|node| (node, Mat4::IDENTITY)).collect();
    while let Some((node, above)) = open.pop() {
        match seen.get_mut(node.index()) {
            Some(seen) if !*seen => *seen = true,
            _ => return wrong(format!("node {} is a child of more than one", node.index())),
        }
        let pose = above * Mat4::from_cols_array_2d(&node.transform().matrix());
        if let Some(m) = node.mesh() {
            add(&mut mesh, &m, pose, &buffers, budget)?;
        }
        open.extend(node.children().map(|child| (child, pose)));
    }
    Ok(mesh)
}

/// The text of a file, and its data where it is a binary one: 12 bytes of a head, then chunks of length, kind, bytes.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), MeshError> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes, None));
    }
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize);
    let chunk = |at: usize, kind: usize| {
        let (length, found) = (word(at)?, word(at.checked_add(4)?)?);
        let start = at.checked_add(8)?;
        let end = start.checked_add(length)?;
        (found == kind).then_some((bytes.get(start..end)?, end))
    };
    let version = word(4).unwrap_or(0);
    if version != 2 {
        return wrong(format!("a binary glTF file of version {version}; 2 is read"));
    }
    let Some((text, end)) = chunk(12, 0x4e4f_534a) else {
        return wrong("no binary glTF file: its first chunk is no text, or is cut off");
    };
    if text.starts_with(b"glTF") {
        return wrong("no binary glTF file: its text is another one");
    }
    Ok((text, chunk(end, 0x004e_4942).map(|(data, _)| data)))
}

/// The file, if it is one as the format has it.
fn checked(bytes: &[u8]) -> Result<Gltf, MeshError> {
    let no_file = |e: gltf::Error| MeshError::Content(format!("no glTF file: {e}"));
    // Chunks are found here: the crate subtracts lengths that a file may have made too short.
    let (text, blob) = chunks(bytes)?;
    let mut file = Gltf::from_slice_without_validation(text).map_err(no_file)?;
    file.blob = blob.map(<[u8]>::to_vec);
    let root = file.as_json();
    // The crate's own check takes it for granted that positions name an accessor, and panics where they do not.
    let parts = root.meshes.iter().flat_map(|m| &m.primitives);
    let positions = parts.filter_map(|p| p.attributes.get(&Checked::Valid(Semantic::Positions)));
    if let Some(index) = positions.map(|index| index.value()).find(|index| *index >= root.accessors.len()) {
        return wrong(format!("no glTF file: positions name accessor {index}, of {}", root.accessors.len()));
    }
    let mut first = None;
    root.validate(root, Path::new, &mut |path, error| {
        first.get_or_insert_with(|| format!("no glTF file: {}: {error}", path()));
    });
    first.map_or(Ok(()), wrong)?;
    Ok(file)
}

fn add(
    mesh: &mut Mesh,
    from: &gltf::Mesh<'_>,
    pose: Mat4,
    buffers: &[Vec<u8>],
    budget: &MeshBudget,
) -> Result<(), MeshError> {
    for part in from.primitives() {
        let place = format!("mesh {}, primitive {}", from.index(), part.index());
        if part.mode() != Mode::Triangles {
            return wrong(format!("{place}: it is made of {:?}; only triangles are read", part.mode()));
        }
        let Some(positions) = part.get(&Semantic::Positions) else {
            return wrong(format!("{place}: it has no positions"));
        };
        if (positions.data_type(), positions.dimensions()) != (DataType::F32, Dimensions::Vec3) {
            return wrong(format!("{place}: its positions are not three floats each"));
        }
        budget.check(mesh.points.len().saturating_add(positions.count()), 0)?;
        let first = mesh.points.len() as u32;
        let word = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        each(&positions, 12, buffers, &place, |b| {
            let p = Vec3::new(word(&b[..4]), word(&b[4..8]), word(&b[8..]));
            mesh.points.push(pose.transform_point3(p));
        })?;
        let mut corners: Vec<u32> = Vec::new();
        if let Some(indices) = part.indices() {
            budget.check(0, (mesh.triangles.len()).saturating_add(indices.count() / 3))?;
            if indices.dimensions() != Dimensions::Scalar {
                return wrong(format!("{place}: its indices are not single numbers"));
            }
            let mut push = |value: u32| corners.push(value);
            match indices.data_type() {
                DataType::U8 => each(&indices, 1, buffers, &place, |b| push(b[0].into()))?,
                DataType::U16 => each(&indices, 2, buffers, &place, |b| push(u16::from_le_bytes([b[0], b[1]]).into()))?,
                DataType::U32 => {
                    each(&indices, 4, buffers, &place, |b| push(u32::from_le_bytes([b[0], b[1], b[2], b[3]])))?;
                }
                other => return wrong(format!("{place}: its indices are {other:?}")),
            }
        } else {
            corners.extend(0..positions.count() as u32);
        }
        let count = positions.count();
        if let Some(corner) = corners.iter().find(|c| **c as usize >= count) {
            return wrong(format!("{place}: it has corner {corner}, and {count} positions"));
        }
        if !corners.len().is_multiple_of(3) {
            return wrong(format!("{place}: {} corners are no triangles", corners.len()));
        }
        budget.check(mesh.points.len(), mesh.triangles.len() + corners.len() / 3)?;
        mesh.triangles.extend(corners.chunks_exact(3).map(|c| [first + c[0], first + c[1], first + c[2]]));
    }
    Ok(())
}

/// Calls `see` with the bytes of every element, `size` of them.
fn each(
    accessor: &Accessor<'_>,
    size: usize,
    buffers: &[Vec<u8>],
    place: &str,
    mut see: impl FnMut(&[u8]),
) -> Result<(), MeshError> {
    if accessor.sparse().is_some() {
        return wrong(format!("{place}: sparse accessors are not read"));
    }
    let Some(view) = accessor.view() else { return wrong(format!("{place}: an accessor has no data")) };
    let short = || MeshError::Content(format!("{place}: an accessor reaches beyond its data"));
    let data = buffers.get(view.buffer().index()).ok_or_else(short)?;
    let end = view.offset().checked_add(view.length()).ok_or_else(short)?;
    let data = data.get(view.offset()..end).ok_or_else(short)?;
    let stride = view.stride().unwrap_or(size).max(1);
    for i in 0..accessor.count() {
        let start = i.checked_mul(stride).and_then(|at| at.checked_add(accessor.offset())).ok_or_else(short)?;
        let end = start.checked_add(size).ok_or_else(short)?;
        see(data.get(start..end).ok_or_else(short)?);
    }
    Ok(())
}

/// The data of a `data:` URI.
fn inside(uri: &str) -> Result<Vec<u8>, MeshError> {
    let Some(coded) = uri.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).map(|(_, coded)| coded)
    else {
        let shown: String = uri.chars().take(60).collect();
        return wrong(format!("its data is in another file, `{shown}`, which is not opened; save it as one .glb"));
    };
    let mut bytes = Vec::with_capacity(coded.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for c in coded.bytes().take_while(|c| *c != b'=') {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return wrong("its data is no base64"),
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Ok(bytes)
}
