//! Gmsh's `.msh` in ASCII, versions 2.2 and 4.1. Sections that are not points or elements are skipped.

use super::lines::{Lines, Words};
use super::{Mesh, MeshBudget, MeshError};
use std::collections::HashMap;

/// Gmsh's numbers of element types.
const TRIANGLE: u32 = 2;
const TETRAHEDRON: u32 = 4;

struct Reader<'a> {
    lines: Lines<'a>,
    budget: &'a MeshBudget,
    mesh: Mesh,
    /// Which point has a tag.
    numbers: HashMap<u64, u32>,
}

pub(super) fn parse(bytes: &[u8], budget: &MeshBudget) -> Result<Mesh, MeshError> {
    let lines = Lines::new(bytes, None)?;
    let mut reader = Reader { lines, budget, mesh: Mesh::default(), numbers: HashMap::new() };
    let mut version = None;
    while let Some(mut line) = reader.lines.next() {
        let section = line.word("a section")?;
        let Some(name) = section.strip_prefix('$') else {
            return Err(line.wrong("a section should begin here, with `$`"));
        };
        match (name, version) {
            ("MeshFormat", _) => version = Some(reader.format()?),
            ("Nodes" | "Elements", None) => return Err(line.wrong(format!("`{section}` before `$MeshFormat`"))),
            ("Nodes", Some(false)) => reader.nodes_2()?,
            ("Nodes", Some(true)) => reader.nodes_4()?,
            ("Elements", Some(false)) => reader.elements_2()?,
            ("Elements", Some(true)) => reader.elements_4()?,
            _ => {}
        }
        reader.skip_to_end(name)?;
    }
    if version.is_none() {
        return Err(MeshError::Content("no Gmsh file: it has no `$MeshFormat`".to_owned()));
    }
    Ok(reader.mesh)
}

impl Reader<'_> {
    /// Whether it is version 4.1.
    fn format(&mut self) -> Result<bool, MeshError> {
        let mut line = self.lines.need("the version")?;
        let version = line.word("the version")?;
        let binary: u32 = line.number("the file type")?;
        if binary != 0 {
            return Err(line.wrong("the file is binary; save it as ASCII (`Mesh.Binary = 0`)"));
        }
        match version {
            "2.2" | "2" => Ok(false),
            "4.1" => Ok(true),
            _ => {
                let shown: String = version.chars().take(20).collect();
                Err(line.wrong(format!("version {shown}; 2.2 and 4.1 are read (`Mesh.MshFileVersion`)")))
            }
        }
    }

    fn skip_to_end(&mut self, name: &str) -> Result<(), MeshError> {
        loop {
            let mut line = self.lines.need(&format!("`$End{name}`"))?;
            if line.word("a word")?.strip_prefix("$End") == Some(name) {
                return Ok(());
            }
        }
    }

    fn point(&mut self, tag: u64, mut line: Words<'_>) -> Result<(), MeshError> {
        self.budget.check(self.mesh.points.len() + 1, 0)?;
        if self.numbers.insert(tag, self.mesh.points.len() as u32).is_some() {
            return Err(line.wrong(format!("there are two points {tag}")));
        }
        self.mesh.points.push(line.point()?);
        Ok(())
    }

    fn element(&mut self, kind: u32, line: &mut Words<'_>) -> Result<(), MeshError> {
        self.budget.check(0, self.mesh.triangles.len().max(self.mesh.tetrahedra.len()) + 1)?;
        match kind {
            TRIANGLE => self.mesh.triangles.push(corners(&self.numbers, line)?),
            TETRAHEDRON => self.mesh.tetrahedra.push(corners(&self.numbers, line)?),
            _ => {}
        }
        Ok(())
    }

    fn nodes_2(&mut self) -> Result<(), MeshError> {
        let count: usize = self.lines.need("the number of points")?.number("the number of points")?;
        for _ in 0..count {
            let mut line = self.lines.need("a point")?;
            let tag = line.number("the number of the point")?;
            self.point(tag, line)?;
        }
        Ok(())
    }

    fn elements_2(&mut self) -> Result<(), MeshError> {
        let count: usize = self.lines.need("the number of elements")?.number("the number of elements")?;
        for _ in 0..count {
            let mut line = self.lines.need("an element")?;
            line.word("the number of the element")?;
            let kind = line.number("the type of the element")?;
            let tags: u32 = line.number("the number of tags")?;
            for _ in 0..tags {
                line.word("a tag")?;
            }
            self.element(kind, &mut line)?;
        }
        Ok(())
    }

    fn nodes_4(&mut self) -> Result<(), MeshError> {
        let blocks: usize = self.lines.need("the number of blocks")?.number("the number of blocks")?;
        for _ in 0..blocks {
            let mut head = self.lines.need("a block of points")?;
            for what in ["the dimension", "the entity", "whether it is parametric"] {
                head.number::<i64>(what)?;
            }
            let count: usize = head.number("the number of points")?;
            let mut tags = Vec::new();
            for _ in 0..count {
                self.budget.check(self.mesh.points.len() + tags.len() + 1, 0)?;
                tags.push(self.lines.need("the tag of a point")?.number("the tag of a point")?);
            }
            for tag in tags {
                let line = self.lines.need("a point")?;
                self.point(tag, line)?;
            }
        }
        Ok(())
    }

    fn elements_4(&mut self) -> Result<(), MeshError> {
        let blocks: usize = self.lines.need("the number of blocks")?.number("the number of blocks")?;
        for _ in 0..blocks {
            let mut head = self.lines.need("a block of elements")?;
            for what in ["the dimension", "the entity"] {
                head.number::<i64>(what)?;
            }
            let kind = head.number("the type of the elements")?;
            let count: usize = head.number("the number of elements")?;
            for _ in 0..count {
                let mut line = self.lines.need("an element")?;
                line.word("the tag of the element")?;
                self.element(kind, &mut line)?;
            }
        }
        Ok(())
    }
}

fn corners<const N: usize>(numbers: &HashMap<u64, u32>, line: &mut Words<'_>) -> Result<[u32; N], MeshError> {
    let mut corners = [0; N];
    for corner in &mut corners {
        let tag: u64 = line.number("a corner")?;
        *corner = *numbers.get(&tag).ok_or_else(|| line.wrong(format!("there is no point {tag}")))?;
    }
    Ok(corners)
}
