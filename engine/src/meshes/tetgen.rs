//! TetGen's `.node` and `.ele`: a head with counts, then a point or a tetrahedron a line, numbered from 0 or 1 on.

use super::lines::Lines;
use super::{Mesh, MeshBudget, MeshError};
use std::collections::HashMap;

pub(super) fn parse(node: &[u8], ele: &[u8], budget: &MeshBudget) -> Result<Mesh, MeshError> {
    let in_file = |file: &str| {
        let file = file.to_owned();
        move |e: MeshError| match e {
            MeshError::Line { line, problem } => {
                MeshError::Line { line, problem: format!("{problem} (in the {file})") }
            }
            other => other,
        }
    };
    let mut mesh = Mesh::default();
    let numbers = points(node, &mut mesh, budget).map_err(in_file(".node"))?;
    tetrahedra(ele, &numbers, &mut mesh, budget).map_err(in_file(".ele"))?;
    Ok(mesh)
}

fn points(text: &[u8], mesh: &mut Mesh, budget: &MeshBudget) -> Result<HashMap<u64, u32>, MeshError> {
    let mut lines = Lines::new(text, Some('#'))?;
    let mut head = lines.need("the number of points")?;
    let count: usize = head.number("the number of points")?;
    let dimensions: u32 = head.number("the number of dimensions")?;
    if dimensions != 3 {
        return Err(head.wrong(format!("points of {dimensions} dimensions; they must have 3")));
    }
    budget.check(count, 0)?;
    let mut numbers = HashMap::new();
    for _ in 0..count {
        let mut line = lines.need("a point")?;
        let number = line.number("the number of the point")?;
        if numbers.insert(number, mesh.points.len() as u32).is_some() {
            return Err(line.wrong(format!("there are two points {number}")));
        }
        mesh.points.push(line.point()?);
    }
    Ok(numbers)
}

fn tetrahedra(text: &[u8], numbers: &HashMap<u64, u32>, mesh: &mut Mesh, budget: &MeshBudget) -> Result<(), MeshError> {
    let mut lines = Lines::new(text, Some('#'))?;
    let mut head = lines.need("the number of tetrahedra")?;
    let count: usize = head.number("the number of tetrahedra")?;
    let nodes: u32 = head.number("the number of corners")?;
    if nodes != 4 && nodes != 10 {
        return Err(head.wrong(format!("elements of {nodes} points; they must have 4, or 10 of which 4 are corners")));
    }
    budget.check(0, count)?;
    for _ in 0..count {
        let mut line = lines.need("a tetrahedron")?;
        line.word("the number of the tetrahedron")?;
        let mut corners = [0; 4];
        for corner in &mut corners {
            let number: u64 = line.number("a corner")?;
            *corner = *numbers.get(&number).ok_or_else(|| line.wrong(format!("there is no point {number}")))?;
        }
        mesh.tetrahedra.push(corners);
    }
    Ok(())
}
