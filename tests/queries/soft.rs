//! Rays against the surfaces of soft bodies, held against a search through all triangles in double precision.

use super::{direction, on_every_backend};
use crate::common::{Random, iterating};
use drystone::Simulation;
use drystone::glam::{DVec3, Vec3};
use drystone::queries::{QueryBatch, QueryFilter};
use drystone::world::{AttachmentDesc, BodyDesc, Cloth, Collider, SoftDesc, SoftHandle, SoftSurface, Solid, World};

const REACH: f32 = 4.0;

/// A cloth that hangs from two corners, a block that falls, a skin on springs, a floor and a ball among them. The first
/// was removed, so that numbers of triangles are not those of when they were added.
fn world() -> (World, Vec<SoftHandle>) {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    world.add(BodyDesc::fixed().at(Vec3::new(0.3, 0.6, 0.2)).with(Collider::sphere(0.25))).unwrap();
    let gone = world.add_soft(SoftDesc::rope(Vec3::Y, Vec3::ONE, 5, 1.0, 100.0, 0.1)).unwrap();
    let cloth = SoftDesc::cloth(Vec3::new(-0.5, 1.2, -0.5), Vec3::X, Vec3::Z, (14, 11), &Cloth::default());
    let mut sheet = SoftSurface::new(0.01, 0.5);
    sheet.groups = 2;
    let cloth = world.add_soft(cloth.touching(sheet)).unwrap();
    for corner in [0, 13] {
        world.attach(AttachmentDesc::to_world(cloth, corner)).unwrap();
    }
    let block = SoftDesc::block(Vec3::new(0.9, 0.5, 0.0), Vec3::splat(0.5), (3, 2, 3), &Solid::default());
    let block = world.add_soft(block).unwrap();
    let mut net = SoftDesc::rope(Vec3::new(-1.0, 0.5, 0.0), Vec3::new(-0.6, 0.9, 0.3), 3, 0.2, 100.0, 0.1);
    net.rest[1] += Vec3::Y * 0.2;
    net.skin = vec![[0, 1, 2]];
    let net = world.add_soft(net).unwrap();
    world.remove_soft(gone).unwrap();
    (world, vec![cloth, block, net])
}

/// The way to a triangle.
fn way(o: DVec3, d: DVec3, p: [DVec3; 3]) -> Option<f64> {
    let normal = (p[1] - p[0]).cross(p[2] - p[0]);
    let t = normal.dot(p[0] - o) / normal.dot(d);
    let at = o + d * t;
    let inside = (0..3).all(|k| (p[(k + 1) % 3] - p[k]).cross(at - p[k]).dot(normal) >= 0.0);
    (t >= 0.0 && t <= f64::from(REACH) && inside).then_some(t)
}

#[test]
fn rays_meet_soft_bodies_where_a_search_through_all_triangles_finds_them() {
    on_every_backend(|backend| {
        let (world, soft) = world();
        let mut simulation = Simulation::new(world, iterating(8), backend.device()).unwrap();
        for _ in 0..12 {
            simulation.step(1.0 / 60.0).unwrap();
        }
        let mut triangles = Vec::new();
        for handle in &soft {
            let state = simulation.soft(*handle).unwrap();
            let corners = simulation.world().soft_triangles(*handle).unwrap();
            triangles.extend(
                (0..).zip(corners).map(|(i, c)| (*handle, i, *c, c.map(|c| state.positions[c as usize].as_dvec3()))),
            );
        }
        let mut random = Random::new(77);
        let (mut batch, mut rays) = (QueryBatch::new(), Vec::new());
        let (all, seeing) = (QueryFilter::default(), QueryFilter::default().with_soft());
        for i in 0..1500u32 {
            let from = Vec3::new(random.range(-1.2, 1.5), random.range(0.05, 2.0), random.range(-1.0, 1.0));
            let way = direction(&mut random);
            rays.push((from, way));
            // Every other asks for what is behind, too; some are not let see the cloth.
            batch.ray(from, way, REACH, all).unwrap();
            batch.ray(from, way, REACH, if i % 5 == 4 { seeing.groups(1, !2) } else { seeing }).unwrap();
        }
        let found = simulation.query(&batch).unwrap();
        assert!(found.soft_rays.iter().step_by(2).all(Option::is_none), "nobody asked");
        let (mut met, mut near) = (0, 0);
        for (i, (from, way_of)) in rays.iter().enumerate() {
            let (o, d) = (from.as_dvec3(), way_of.as_dvec3());
            let behind = found.rays[2 * i].map_or(f64::from(REACH), |h| f64::from(h.distance));
            let seen = triangles.iter().filter(|t| i % 5 != 4 || t.0.index() != soft[0].index());
            let hits = seen.filter_map(|t| Some((way(o, d, t.3)?, t)));
            let first = hits.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|hit| hit.0 < behind);
            let (rigid, answer) = (found.rays[2 * i + 1], found.soft_rays[2 * i + 1]);
            let place = format!("{} ray {i}: {answer:?} and {rigid:?}, {first:?}", backend.name());
            // A ray that goes through within a hair of a side, or of what is behind, may be on either side of it.
            let close = |a: f64| {
                triangles.iter().any(|t| {
                    (0..3).any(|k| {
                        let (p, e) = (t.3[k], t.3[(k + 1) % 3] - t.3[k]);
                        let across = d.cross(e).normalize_or_zero();
                        (p - o).dot(across).abs() < 2e-5
                    })
                }) || (a - behind).abs() < 1e-4
            };
            match (first, answer) {
                (Some((t, (soft, number, corners, at))), Some(hit)) => {
                    if (f64::from(hit.distance) - t).abs() > 2e-5 {
                        assert!(close(t), "{place}");
                        near += 1;
                        continue;
                    }
                    met += 1;
                    assert!(rigid.is_none(), "{place}");
                    let normal = (at[1] - at[0]).cross(at[2] - at[0]).normalize();
                    assert!(hit.normal.as_dvec3().dot(normal).abs() > 0.9999, "{place}");
                    assert!(hit.normal.dot(*way_of) <= 0.0 && (hit.fraction * REACH - hit.distance).abs() < 1e-5);
                    assert!((hit.point.as_dvec3() - (o + d * t)).length() < 5e-5, "{place}");
                    let same = (hit.soft.index(), hit.triangle, hit.particles) == (soft.index(), *number, *corners);
                    assert!(same || close(t), "{place}");
                }
                (None, None) => assert_eq!(rigid, found.rays[2 * i], "{place}"),
                (first, _) => {
                    assert!(close(first.map_or(0.0, |f| f.0)), "{place}");
                    near += 1;
                }
            }
        }
        assert!(met > 80 && near < 8, "{met} met soft bodies, {near} near a side");
    });
}
