//! Mesh files of every format, with bytes and numbers changed: they are refused, or make a soft body that can be added
//! and stepped.

use super::Outcome;
use crate::common::{Random, mesh_files as files};
use drystone::glam::Vec3;
use drystone::meshes::{Mesh, MeshBudget};
use drystone::world::{Cloth, SoftDesc, Solid, World};

/// A file of each format, and what reads it.
pub fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let (node, ele) = files::tetgen(1);
    let obj = "o a\nv 0 0 0\nv 1 0 0 1\nv 1 0 1\nv 0 0 1\nvn 0 1 0\nf 1//1 2//1 3//1 4//1\nl 1 2\ng b\nf -1 -2 -3\n";
    vec![
        ("obj", obj.as_bytes().to_vec()),
        ("gltf", files::glb(None)),
        ("gltf", files::glb(Some("data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAAAAAIA/"))),
        ("msh", files::gmsh_2().into_bytes()),
        ("msh", files::gmsh_4().into_bytes()),
        ("tetgen", [node.as_bytes(), b"\0", ele.as_bytes()].concat()),
    ]
}

const ODD: [&str; 10] =
    ["-1", "0", "4294967295", "18446744073709551616", "1e39", "nan", "", "$End", "2.5", "1 1 1 1 1"];

pub fn case(corpus: &[(&str, Vec<u8>)], random: &mut Random) -> Outcome {
    let (format, whole) = &corpus[random.below(corpus.len() as u32) as usize];
    let mut bytes = whole.clone();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len().max(1) as u32) as usize;
        match random.below(5) {
            0 if !bytes.is_empty() => bytes[at] = random.bits() as u8,
            1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => {
                // Another word where one is.
                let start = bytes[..at].iter().rposition(|b| b" \n,:[".contains(b)).map_or(0, |i| i + 1);
                let end = bytes[at..].iter().position(|b| b" \n,:]".contains(b)).map_or(bytes.len(), |i| at + i);
                bytes.splice(start..end, ODD[random.below(ODD.len() as u32) as usize].bytes());
            }
            _ => {
                let end = (at + random.below(40) as usize).min(bytes.len());
                let copy = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
    let budget = MeshBudget::default().with_points(200).with_elements(400);
    let read = match *format {
        "obj" => Mesh::from_obj(&bytes, &budget),
        "gltf" => Mesh::from_gltf(&bytes, &budget),
        "msh" => Mesh::from_gmsh(&bytes, &budget),
        _ => {
            let middle = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            Mesh::from_tetgen(&bytes[..middle], bytes.get(middle + 1..).unwrap_or_default(), &budget)
        }
    };
    let Ok(mesh) = read else { return Outcome::Refused };
    assert!(mesh.points.len() <= 200 && mesh.triangles.len().max(mesh.tetrahedra.len()) <= 400);
    let (mesh, _) = mesh.placed(1.0, Vec3::Y).tidy();
    let desc: SoftDesc =
        if mesh.tetrahedra.is_empty() { mesh.cloth(&Cloth::default()) } else { mesh.solid(&Solid::default()) };
    match World::new().add_soft(desc) {
        Ok(_) => Outcome::Accepted,
        Err(_) => Outcome::Refused,
    }
}
