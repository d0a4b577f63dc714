//! Soft bodies of scene files, read and written.

use super::budget::Budget;
use super::export::{Fields, list, number, object, put, text as quoted, vector as written};
use super::file::vector;
use super::json::{Checked, Object, Problem, array, each, integer, kind_of, one_of, single, switch, text};
use crate::glam::Vec3;
use crate::world::soft::{SoftHinge, SoftSpring, SoftTetrahedron, SoftTriangle};
use crate::world::{AttachmentDesc, BodyHandle, Cloth, SoftDesc, SoftHandle, SoftSurface, Solid, World, WorldError};
use serde_json::Value;
use std::collections::BTreeMap;

/// A number, or null for one without bounds.
fn unbounded(value: &Value) -> Checked<f32> {
    if value.is_null() { Ok(f32::INFINITY) } else { single(value) }
}

/// Corners and then numbers, all in one list.
fn element<const C: usize, const N: usize>(value: &Value) -> Checked<([u32; C], [f32; N])> {
    let items = super::json::list(value)?;
    if items.len() != C + N {
        return Err(Problem::new(format!(" has {} values; it must have {}", items.len(), C + N)));
    }
    let (mut corners, mut values) = ([0; C], [0.0; N]);
    for (i, item) in items.iter().enumerate() {
        let read =
            if i < C { integer(item).map(|c| corners[i] = c) } else { unbounded(item).map(|v| values[i - C] = v) };
        read.map_err(|p| p.at(i))?;
    }
    Ok((corners, values))
}

fn solid(o: &mut Object<'_>) -> Checked<Solid> {
    let usual = Solid::default();
    Ok(Solid {
        density: o.get("density", single)?.unwrap_or(usual.density),
        young: o.get("young", single)?.unwrap_or(usual.young),
        poisson: o.get("poisson", single)?.unwrap_or(usual.poisson),
        damping: o.get("damping", single)?.unwrap_or(usual.damping),
    })
}

fn cloth(o: &mut Object<'_>) -> Checked<Cloth> {
    let usual = Cloth::default();
    Ok(Cloth {
        density: o.get("density", single)?.unwrap_or(usual.density),
        stretch: o.get("stretch", single)?.unwrap_or(usual.stretch),
        poisson: o.get("poisson", single)?.unwrap_or(usual.poisson),
        bend: o.get("bend", single)?.unwrap_or(usual.bend),
        damping: o.get("damping", single)?.unwrap_or(usual.damping),
        bend_damping: o.get("bend_damping", single)?.unwrap_or(usual.bend_damping),
    })
}

fn mesh(o: &mut Object<'_>) -> Checked<SoftDesc> {
    Ok(SoftDesc {
        rest: o.need("rest", |v| each(v, vector))?,
        masses: o.need("masses", |v| each(v, single))?,
        springs: o
            .get("springs", |v| {
                each(v, |v| {
                    let (ends, [rest, stiffness, damping]) = element(v)?;
                    Ok(SoftSpring { ends, rest, stiffness, damping })
                })
            })?
            .unwrap_or_default(),
        triangles: o
            .get("triangles", |v| {
                each(v, |v| {
                    let (corners, [mu, lambda, damping]) = element(v)?;
                    Ok(SoftTriangle { corners, mu, lambda, damping })
                })
            })?
            .unwrap_or_default(),
        hinges: o
            .get("hinges", |v| {
                each(v, |v| {
                    let (corners, [stiffness, damping]) = element(v)?;
                    Ok(SoftHinge { corners, stiffness, damping })
                })
            })?
            .unwrap_or_default(),
        tetrahedra: o
            .get("tetrahedra", |v| {
                each(v, |v| {
                    let (corners, [mu, lambda, damping]) = element(v)?;
                    Ok(SoftTetrahedron { corners, mu, lambda, damping })
                })
            })?
            .unwrap_or_default(),
        skin: o.get("skin", |v| each(v, |v| array(v, integer)))?.unwrap_or_default(),
        ..SoftDesc::default()
    })
}

fn surface(value: &Value, usual: Option<SoftSurface>) -> Checked<Option<SoftSurface>> {
    if value.is_null() {
        return Ok(None);
    }
    let usual = usual.unwrap_or(SoftSurface::new(0.0, 0.5));
    let mut o = Object::new(value)?;
    let surface = SoftSurface {
        radius: o.get("radius", single)?.unwrap_or(usual.radius),
        friction: o.get("friction", single)?.unwrap_or(usual.friction),
        groups: o.get("groups", integer)?.unwrap_or(usual.groups),
        mask: o.get("mask", integer)?.unwrap_or(usual.mask),
        meets_soft: o.get("meets_soft", switch)?.unwrap_or(usual.meets_soft),
    };
    o.finish()?;
    Ok(Some(surface))
}

/// Whether a budget has room for so many particles more: those of a grid, which has at least two along each side.
fn room(budget: &Budget, world: &World, sides: &[u32], more: u32) -> Checked<()> {
    let wanted = sides.iter().fold(1usize, |n, s| n.saturating_mul(s.saturating_add(more).max(2) as usize));
    budget.check_particles(world, wanted).map_err(Problem::new)
}

fn described(o: &mut Object<'_>, world: &World, budget: &Budget) -> Checked<SoftDesc> {
    let types = ["rope", "cloth", "block", "ball", "mesh"].map(|t| (t, t));
    Ok(match o.need("type", |v| one_of(v, &types))? {
        "rope" => {
            let (from, to) = (o.need("from", vector)?, o.need("to", vector)?);
            let particles = o.need("particles", integer)?;
            room(budget, world, &[particles], 0)?;
            let mass = o.need("mass", single)?;
            let stiffness = o.get("stiffness", unbounded)?.unwrap_or(f32::INFINITY);
            SoftDesc::rope(from, to, particles, mass, stiffness, o.get("damping", single)?.unwrap_or(0.0))
        }
        "cloth" => {
            let (corner, along) = (o.need("corner", vector)?, o.need("along", vector)?);
            let across = o.need("across", vector)?;
            let particles: [u32; 2] = o.need("particles", |v| array(v, integer))?;
            room(budget, world, &particles, 0)?;
            SoftDesc::cloth(corner, along, across, particles.into(), &cloth(o)?)
        }
        "block" => {
            let (centre, size) = (o.get("centre", vector)?.unwrap_or_default(), o.need("size", vector)?);
            let cells: [u32; 3] = o.need("cells", |v| array(v, integer))?;
            room(budget, world, &cells, 1)?;
            SoftDesc::block(centre, size, cells.into(), &solid(o)?)
        }
        "ball" => {
            let (centre, radius) = (o.get("centre", vector)?.unwrap_or_default(), o.need("radius", single)?);
            let cells = o.need("cells", integer)?;
            room(budget, world, &[cells.max(2); 3], 1)?;
            SoftDesc::ball(centre, radius, cells, &solid(o)?)
        }
        _ => {
            let mesh = mesh(o)?;
            room(budget, world, &[mesh.rest.len().min(u32::MAX as usize) as u32], 0)?;
            mesh
        }
    })
}

fn attachment(value: &Value, soft: SoftHandle, world: &World) -> Checked<AttachmentDesc> {
    if !value.is_object() {
        return Err(kind_of(value, "an object"));
    }
    let mut o = Object::new(value)?;
    let mut desc = AttachmentDesc::to_world(soft, o.need("particle", integer)?);
    desc.body = o.get("body", |v| {
        let name = text(v)?;
        world.find(&name).ok_or_else(|| Problem::new(format!(" is `{name}`; there is no body of that name")))
    })?;
    desc.anchor = o.get("anchor", vector)?;
    desc.stiffness = o.get("stiffness", unbounded)?.unwrap_or(desc.stiffness);
    desc.max_force = o.get("max_force", unbounded)?.unwrap_or(desc.max_force);
    o.finish()?;
    Ok(desc)
}

/// Adds a soft body, its attachments and the forces on it to the world.
pub(super) fn add(value: &Value, world: &mut World, budget: &Budget) -> Checked<()> {
    let mut o = Object::new(value)?;
    let mut desc = described(&mut o, world, budget)?;
    if let Some(velocity) = o.get("velocity", vector)? {
        desc = desc.moving(velocity);
    }
    desc.positions = o.get("positions", |v| each(v, vector))?.unwrap_or(desc.positions);
    desc.velocities = o.get("velocities", |v| each(v, vector))?.unwrap_or(desc.velocities);
    desc.gravity_scale = o.get("gravity_scale", single)?;
    let usual = desc.surface;
    desc.surface = o.get("surface", |v| surface(v, usual))?.unwrap_or(usual);
    let soft = world.add_soft(desc)?;
    let attachments = o.get("attachments", |v| each(v, |v| attachment(v, soft, world)))?.unwrap_or_default();
    let forces = o.get("forces", |v| each(v, element::<1, 3>))?.unwrap_or_default();
    o.finish()?;
    for (i, desc) in attachments.into_iter().enumerate() {
        world.attach(desc).map_err(|e| Problem::from(e).at(i).inside("attachments"))?;
    }
    for (i, ([particle], force)) in forces.into_iter().enumerate() {
        let set = world.set_particle_force(soft, particle, Vec3::from(force));
        set.map_err(|e| Problem::from(e).at(i).inside("forces"))?;
    }
    Ok(())
}

fn open(v: f32) -> String {
    if v.is_finite() { number(v) } else { "null".to_owned() }
}

fn all<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(write).collect();
    format!("[{}]", items.join(", "))
}

fn row(corners: &[u32], values: &[f32]) -> String {
    let items = corners.iter().map(u32::to_string).chain(values.iter().map(|v| open(*v)));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A soft body as a file has it: particle by particle, whatever it was made as.
pub(super) fn write(
    world: &World,
    soft: SoftHandle,
    called: &BTreeMap<BodyHandle, String>,
) -> Result<String, WorldError> {
    let desc = world.soft_desc(soft)?;
    let mut fields: Fields = vec![("type", quoted("mesh"))];
    fields.push(("rest", all(&desc.rest, |p| written(*p))));
    fields.push(("masses", list(&desc.masses)));
    let vectors = [("positions", &desc.positions), ("velocities", &desc.velocities)];
    fields.extend(vectors.into_iter().filter(|(_, v)| !v.is_empty()).map(|(key, v)| (key, all(v, |p| written(*p)))));
    let elements = [
        ("springs", all(&desc.springs, |s| row(&s.ends, &[s.rest, s.stiffness, s.damping]))),
        ("triangles", all(&desc.triangles, |t| row(&t.corners, &[t.mu, t.lambda, t.damping]))),
        ("hinges", all(&desc.hinges, |h| row(&h.corners, &[h.stiffness, h.damping]))),
        ("tetrahedra", all(&desc.tetrahedra, |t| row(&t.corners, &[t.mu, t.lambda, t.damping]))),
        ("skin", all(&desc.skin, |corners| row(corners, &[]))),
    ];
    fields.extend(elements.into_iter().filter(|(_, text)| text != "[]"));
    fields.extend(desc.gravity_scale.map(|v| ("gravity_scale", number(v))));
    if let Some(surface) = desc.surface {
        let mut said: Fields = vec![("radius", number(surface.radius)), ("friction", number(surface.friction))];
        put(&mut said, "groups", surface.groups, u32::MAX, |v| v.to_string());
        put(&mut said, "mask", surface.mask, u32::MAX, |v| v.to_string());
        put(&mut said, "meets_soft", surface.meets_soft, false, |v| v.to_string());
        fields.push(("surface", object(said)));
    }
    let held: Vec<String> = world
        .soft_store()
        .attachments()
        .filter(|(_, a)| a.soft == soft)
        .map(|(_, a)| {
            let mut said: Fields = vec![("particle", a.particle.to_string())];
            said.extend(a.body.and_then(|b| Some(("body", quoted(called.get(&b)?)))));
            said.extend(a.anchor.map(|anchor| ("anchor", written(anchor))));
            put(&mut said, "stiffness", a.stiffness, f32::INFINITY, open);
            put(&mut said, "max_force", a.max_force, f32::INFINITY, open);
            object(said)
        })
        .collect();
    if !held.is_empty() {
        fields.push(("attachments", format!("[{}]", held.join(", "))));
    }
    let forces: Vec<String> = world
        .soft_store()
        .entries()
        .filter(|(slot, ..)| *slot == soft.index())
        .flat_map(|(_, _, _, forces)| forces.iter().map(|(particle, f)| row(&[*particle], &f.to_array())))
        .collect();
    if !forces.is_empty() {
        fields.push(("forces", format!("[{}]", forces.join(", "))));
    }
    Ok(object(fields))
}
