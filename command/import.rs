//! `drystone import`: a mesh as a scene file. Scene files name no other files, so the mesh is written into it.

use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use drystone::Settings;
use drystone::glam::Vec3;
use drystone::meshes::{Mesh, MeshBudget};
use drystone::render::Camera;
use drystone::scenes::{Scene, file};
use drystone::world::{AttachmentDesc, Cloth, Solid, World};
use std::io::Write;
use std::path::PathBuf;

/// What a mesh becomes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Its triangles, as cloth.
    Cloth,
    /// Its tetrahedra, as a solid.
    Solid,
}

/// Options of `drystone import`.
#[derive(Parser)]
pub struct Options {
    /// The mesh: .obj, .gltf, .glb, .msh (Gmsh), or .node (TetGen) with its .ele beside it.
    mesh: PathBuf,
    /// Where to write the scene: a file that ends with .json, or standard output (-).
    #[arg(value_name = "FILE|-", default_value = "-")]
    file: String,
    /// What it becomes: by default a solid when it has tetrahedra, else cloth.
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// Metres a unit of the mesh.
    #[arg(long, default_value_t = 1.0)]
    scale: f32,
    /// Where its origin is, metres.
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', num_args = 3, allow_hyphen_values = true)]
    at: Option<Vec<f32>>,
    /// What it is made of (`density=300`, `young=1e5`): a field of a cloth or a solid. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Holds particles at these numbers where they are.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    hold: Vec<u32>,
    /// Holds all particles that are no lower than this, metres.
    #[arg(long, value_name = "Y", allow_hyphen_values = true)]
    hold_above: Option<f32>,
    /// Leaves out the floor at y = 0.
    #[arg(long)]
    no_floor: bool,
    /// Most points that the mesh may have.
    #[arg(long, value_name = "N")]
    max_points: Option<usize>,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let mut budget = MeshBudget::default();
    if let Some(points) = options.max_points {
        budget = budget.with_points(points);
    }
    let (mesh, told) = Mesh::read(&options.mesh, &budget)?.tidy();
    if !(options.scale > 0.0 && options.scale.is_finite()) {
        bail!("--scale is {}; it must be more than 0", options.scale);
    }
    let at = options.at.as_ref().map_or(Vec3::ZERO, |at| Vec3::from_slice(at));
    let mesh = mesh.placed(options.scale, at);
    let kind = options.kind.unwrap_or(if mesh.tetrahedra.is_empty() { Kind::Cloth } else { Kind::Solid });
    let (mut cloth, mut solid) = (Cloth::default(), Solid::default());
    for pair in &options.set {
        let (key, value) = pair.split_once('=').with_context(|| format!("`--set {pair}`: expected KEY=VALUE"))?;
        let value: f32 = value.parse().with_context(|| format!("`--set {pair}`: `{value}` is not a number"))?;
        let field = match (kind, key) {
            (Kind::Cloth, "density") => &mut cloth.density,
            (Kind::Cloth, "stretch") => &mut cloth.stretch,
            (Kind::Cloth, "poisson") => &mut cloth.poisson,
            (Kind::Cloth, "bend") => &mut cloth.bend,
            (Kind::Cloth, "damping") => &mut cloth.damping,
            (Kind::Cloth, "bend_damping") => &mut cloth.bend_damping,
            (Kind::Solid, "density") => &mut solid.density,
            (Kind::Solid, "young") => &mut solid.young,
            (Kind::Solid, "poisson") => &mut solid.poisson,
            (Kind::Solid, "damping") => &mut solid.damping,
            (Kind::Cloth, _) => bail!("cloth has no `{key}`: density, stretch, poisson, bend, damping, bend_damping"),
            (Kind::Solid, _) => bail!("a solid has no `{key}`: density, young, poisson, damping"),
        };
        *field = value;
    }
    let desc = match kind {
        Kind::Cloth if mesh.triangles.is_empty() => bail!("the mesh has no triangles; try --as solid"),
        Kind::Solid if mesh.tetrahedra.is_empty() => bail!("the mesh has no tetrahedra; try --as cloth"),
        Kind::Cloth => mesh.cloth(&cloth),
        Kind::Solid => mesh.solid(&solid),
    };
    let lowest = options.hold_above.unwrap_or(f32::INFINITY);
    let high = (0..).zip(&desc.rest).filter(|(_, p)| p.y >= lowest).map(|(i, _)| i);
    let mut held: Vec<u32> = options.hold.iter().copied().chain(high).collect();
    held.sort_unstable();
    held.dedup();
    let mut world = if options.no_floor { World::new() } else { drystone::scenes::floor(0.5)? };
    let soft = world.add_soft(desc)?;
    for particle in &held {
        world.attach(AttachmentDesc::to_world(soft, *particle))?;
    }
    let name = options.mesh.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let (settings, camera) = (Settings::default(), Camera::of(&world));
    let made = world.soft_desc(soft)?;
    let (points, triangles, tetrahedra) = (made.len(), made.triangles.len(), made.tetrahedra.len());
    eprintln!("{points} particles, {triangles} triangles, {tetrahedra} tetrahedra, {} held", held.len());
    let parts = [
        (told.doubled, "points at the place of another"),
        (told.unused, "points on no element"),
        (told.flat, "elements without extent"),
        (told.repeated, "elements that are there twice"),
    ];
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        eprintln!("left out: {count} {what}");
    }
    let scene = Scene::new(name, world, settings, camera);
    let text = file::to_text(&scene)?;
    if options.file == "-" {
        return std::io::stdout().write_all(text.as_bytes()).context("cannot write the scene");
    }
    super::files::write(options.file.as_ref(), text.as_bytes())
}
