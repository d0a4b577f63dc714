//! Small meshes as files of other programs.

use drystone::glam::Vec3;
use drystone::world::{SoftDesc, Solid};
use std::fmt::Write;

/// A block of tetrahedra to be written as files.
pub fn block() -> (SoftDesc, Vec<[u32; 4]>) {
    let block = SoftDesc::block(Vec3::Y, Vec3::new(0.5, 1.0, 0.25), (2, 3, 1), &Solid::default());
    let corners = block.tetrahedra.iter().map(|t| t.corners).collect();
    (block, corners)
}

/// A glTF file of one triangle more than a square, below two nodes: binary, or text with its data elsewhere.
pub fn glb(uri: Option<&str>) -> Vec<u8> {
    let points: [[f32; 3]; 5] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]];
    let indices: [u16; 9] = [0, 1, 2, 0, 2, 3, 0, 1, 4];
    let mut data: Vec<u8> = points.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    data.extend(indices.iter().flat_map(|i| i.to_le_bytes()));
    data.extend([0, 0]);
    let length = data.len();
    let uri = uri.map_or(String::new(), |uri| format!(r#""uri": "{uri}", "#));
    let mut json = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
        "nodes": [{{"children": [1], "translation": [0, 3, 0]}}, {{"mesh": 0, "scale": [2, 2, 2]}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1}}]}}],
        "buffers": [{{{uri}"byteLength": {length}}}],
        "bufferViews": [{{"buffer": 0, "byteOffset": 0, "byteLength": 60}}, {{"buffer": 0, "byteOffset": 60, "byteLength": 18}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3",
          "min": [0, 0, 0], "max": [1, 0.5, 1]}},
          {{"bufferView": 1, "componentType": 5123, "count": 9, "type": "SCALAR"}}]}}"#
    );
    if !uri.is_empty() {
        return json.into_bytes();
    }
    while json.len() % 4 != 0 {
        json.push(' ');
    }
    let mut file = b"glTF".to_vec();
    let words = |file: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|w| file.extend(w.to_le_bytes()));
    words(&mut file, &[2, (12 + 8 + json.len() + 8 + length) as u32, json.len() as u32, 0x4e4f_534a]);
    file.extend(json.bytes());
    words(&mut file, &[length as u32, 0x004e_4942]);
    file.extend(data);
    file
}

/// The block as a file of Gmsh, version 2.2.
pub fn gmsh_2() -> String {
    let (block, corners) = block();
    let mut text =
        format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\n$Nodes ?\n$EndComments\n$Nodes\n{}\n", block.len());
    // Numbers that have gaps, in another order.
    for (i, p) in block.rest.iter().enumerate().rev() {
        writeln!(text, "{} {} {} {}", 10 * i + 7, p.x, p.y, p.z).unwrap();
    }
    writeln!(text, "$EndNodes\n$Elements\n{}\n1 15 2 0 1 7", corners.len() + 1).unwrap();
    for (i, c) in corners.iter().enumerate() {
        let [a, b, c, d] = c.map(|c| 10 * c + 7);
        writeln!(text, "{} 4 2 0 1 {a} {b} {c} {d}", i + 2).unwrap();
    }
    text + "$EndElements\n"
}

/// The same in version 4.1.
pub fn gmsh_4() -> String {
    let (block, corners) = block();
    let (n, m) = (block.len(), corners.len());
    let mut text =
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n".to_owned();
    writeln!(text, "$Nodes\n2 {n} 1 {n}\n3 1 0 5").unwrap();
    let point = |text: &mut String, p: &Vec3| writeln!(text, "{} {} {}", p.x, p.y, p.z).unwrap();
    (1..=5).for_each(|i| writeln!(text, "{i}").unwrap());
    block.rest[..5].iter().for_each(|p| point(&mut text, p));
    writeln!(text, "3 1 0 {}", n - 5).unwrap();
    (6..=n).for_each(|i| writeln!(text, "{i}").unwrap());
    block.rest[5..].iter().for_each(|p| point(&mut text, p));
    writeln!(text, "$EndNodes\n$Elements\n1 {m} 1 {m}\n3 1 4 {m}").unwrap();
    for (i, c) in corners.iter().enumerate() {
        let [a, b, c, d] = c.map(|c| c + 1);
        writeln!(text, "{} {a} {b} {c} {d}", i + 1).unwrap();
    }
    text + "$EndElements\n"
}

/// The same as both files of TetGen, numbered from `from` on.
pub fn tetgen(from: u32) -> (String, String) {
    let (block, corners) = block();
    let mut node = format!("# made by hand\n\n{} 3 1 1\n", block.len());
    for (i, p) in (from..).zip(&block.rest) {
        writeln!(node, "  {i}  {} {} {}  0.5 1 # an attribute and a marker", p.x, p.y, p.z).unwrap();
    }
    let mut ele = format!("{} 4 0\n", corners.len());
    for (i, c) in (from..).zip(&corners) {
        let [a, b, c, d] = c.map(|c| c + from);
        writeln!(ele, "{i} {a} {b} {c} {d}").unwrap();
    }
    (node, ele)
}
