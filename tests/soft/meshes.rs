//! Soft bodies from files of other programs.

use crate::common::mesh_files::{block, glb, gmsh_2, gmsh_4, tetgen};
use drystone::glam::{Mat4, Vec3};
use drystone::meshes::{Mesh, MeshBudget, MeshError};
use drystone::world::{Cloth, SoftDesc, Solid, World};

fn budget() -> MeshBudget {
    MeshBudget::default()
}

#[test]
fn polygons_and_doubled_points_of_an_obj_become_one_cloth() {
    // A strip of two squares and a triangle; the second object has points of its own at the same places.
    let text = "# a strip\nmtllib nothing.mtl\no one\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nvt 0 0\nusemtl red\n\
                f 1/1 2/1 3/1 4/1\no two\nv 1 0 0\nv 2 0 0\nv 2 0 1\nv 1 0 1\nf -4 -3 -2 -1\nv 3 0 0.5\nf 6 9 7\n\
                f 6 7 7\nv 9 9 9\n";
    let (mesh, told) = Mesh::from_obj(text.as_bytes(), &budget()).unwrap().tidy();
    assert_eq!((mesh.points.len(), mesh.triangles.len(), told.flat), (7, 5, 1), "{mesh:?} {told:?}");
    assert_eq!(told.doubled, 2);
    let cloth = mesh.cloth(&Cloth::default());
    assert_eq!(cloth.hinges.len(), 4, "sides are shared across objects");
    let mass: f32 = cloth.masses.iter().sum();
    assert!((mass - 2.5 * Cloth::default().density).abs() < 1e-6);
    World::new().add_soft(cloth).unwrap();
    let broken = Mesh::from_obj(b"v 0 0 0\nv 1 0 0\nf 1 2 5\n", &budget()).unwrap_err();
    assert!(matches!(broken, MeshError::Content(_)), "{broken}");
    let few = budget().with_points(3);
    assert!(matches!(Mesh::from_obj(text.as_bytes(), &few), Err(MeshError::TooMany { .. })));
    assert!(Mesh::from_obj(b"v 0 0 nan\nv 1 0 0\nv 1 1 0\nf 1 2 3\n", &budget()).is_err());
}

#[test]
fn a_gltf_file_is_read_in_the_space_of_its_scene_and_opens_no_other() {
    let mesh = Mesh::from_gltf(&glb(None), &budget()).unwrap();
    assert_eq!((mesh.points.len(), mesh.triangles.len()), (5, 3));
    let pose = Mat4::from_translation(Vec3::Y * 3.0) * Mat4::from_scale(Vec3::splat(2.0));
    assert_eq!(mesh.points[4], pose.transform_point3(Vec3::splat(0.5)));
    assert_eq!(mesh.triangles[2], [0, 1, 4]);
    // Three points, in the text itself.
    let inside = "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAAAAAIA/";
    let text = r#"{"asset": {"version": "2.0"}, "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"uri": "URI", "byteLength": 36}], "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
        "min": [0, 0, 0], "max": [1, 0, 1]}]}"#;
    let mesh = Mesh::from_gltf(text.replace("URI", inside).as_bytes(), &budget()).unwrap();
    assert_eq!((mesh.points, mesh.triangles), (vec![Vec3::ZERO, Vec3::X, Vec3::Z], vec![[0, 1, 2]]));
    let error = Mesh::from_gltf(text.replace("URI", "../secret.bin").as_bytes(), &budget()).unwrap_err();
    assert!(error.to_string().contains("../secret.bin") && error.to_string().contains("not opened"), "{error}");
    let error = Mesh::from_gltf(text.replace("URI", &inside[..inside.len() - 8]).as_bytes(), &budget()).unwrap_err();
    assert!(error.to_string().contains("beyond its data"), "{error}");
    let looped = String::from_utf8(glb(Some("x"))).unwrap().replace(r#""scale": [2, 2, 2]"#, r#""children": [0]"#);
    assert!(Mesh::from_gltf(looped.as_bytes(), &budget()).is_err());
}

#[test]
fn tetrahedra_of_gmsh_and_tetgen_are_those_that_were_written() {
    let (block, corners) = block();
    let solid = Solid::default();
    let (zero, one) = (tetgen(0), tetgen(1));
    let meshes = [
        Mesh::from_gmsh(gmsh_2().as_bytes(), &budget()).unwrap(),
        Mesh::from_gmsh(gmsh_4().as_bytes(), &budget()).unwrap(),
        Mesh::from_tetgen(zero.0.as_bytes(), zero.1.as_bytes(), &budget()).unwrap(),
        Mesh::from_tetgen(one.0.as_bytes(), one.1.as_bytes(), &budget()).unwrap(),
    ];
    for (case, mesh) in meshes.into_iter().enumerate() {
        let places = |t: &[u32; 4], of: &[Vec3]| t.map(|c| of[c as usize]);
        assert_eq!(mesh.tetrahedra.len(), corners.len(), "{case}");
        for (found, expected) in mesh.tetrahedra.iter().zip(&corners) {
            assert_eq!(places(found, &mesh.points), places(expected, &block.rest), "{case}");
        }
        let (tidy, told) = mesh.tidy();
        assert_eq!(told, Default::default(), "{case}");
        let made = tidy.solid(&solid);
        let mass = |desc: &SoftDesc| desc.masses.iter().sum::<f32>();
        assert!((mass(&made) - mass(&block)).abs() < 1e-3 && made.outside().len() == block.outside().len(), "{case}");
        World::new().add_soft(made).unwrap();
    }
}

#[test]
fn what_is_wrong_with_a_mesh_is_said_with_its_line() {
    let (node, ele) = tetgen(1);
    let lines = |text: &str, line: usize, instead: &str| {
        let changed = text.lines().enumerate().map(|(i, l)| if i + 1 == line { instead } else { l });
        changed.collect::<Vec<_>>().join("\n")
    };
    let tetgen = |node: &str, ele: &str| Mesh::from_tetgen(node.as_bytes(), ele.as_bytes(), &budget());
    let gmsh = |text: &str| Mesh::from_gmsh(text.as_bytes(), &budget());
    let four = gmsh_4();
    let cases = [
        (tetgen(&lines(&node, 5, "2 0.5 what 1"), &ele), "line 5", "`what`"),
        (tetgen(&lines(&node, 6, "2 0 0 0"), &ele), "line 6", "two points 2"),
        (tetgen(&lines(&node, 3, "999 3 0 0"), &ele), "", "the file ends where a point should be"),
        (tetgen(&lines(&node, 3, "4294967295 3 0 0"), &ele), "", "more than 1000000 points"),
        (tetgen(&lines(&node, 3, "9 2 0 0"), &ele), "line 3", "2 dimensions"),
        (tetgen(&node, &lines(&ele, 4, "3 1 2 3 99")), "line 4", "no point 99"),
        (tetgen(&node, &lines(&ele, 2, "1 1 2")), "line 2", "a corner is missing"),
        (tetgen(&lines(&node, 5, "2 0.5 inf 1"), &ele), "line 5", "not finite"),
        (gmsh(&four.replace("4.1 0 8", "4.1 1 8")), "line 2", "binary"),
        (gmsh(&four.replace("4.1 0 8", "3.0 0 8")), "line 2", "version 3.0"),
        (gmsh(&four.replace("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", "")), "", "before `$MeshFormat`"),
        (gmsh(four.trim_end_matches("$EndElements\n")), "", "`$EndElements`"),
        (gmsh(""), "", "no Gmsh file"),
        (gmsh("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"), "", "no triangles and no tetrahedra"),
    ];
    for (i, (found, line, words)) in cases.into_iter().enumerate() {
        let said = found.expect_err("it should be refused").to_string();
        assert!(said.contains(line) && said.contains(words), "{i}: {said}");
    }
    let binary = [b"$MeshFormat\n".as_slice(), &[0xff, 0xfe]].concat();
    assert!(Mesh::from_gmsh(&binary, &budget()).unwrap_err().to_string().contains("line 2"));
    let error = Mesh::read("/nonexistent/a.obj", &budget()).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/a.obj"), "{error}");
    assert!(Mesh::read("a.stl", &budget()).unwrap_err().to_string().contains(".stl"));
}
