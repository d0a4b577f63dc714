use super::*;
use crate::common::iterating;
use drystone::world::*;
use drystone::glam::*;
#[test]
fn probe() {
    for (side, mass) in [(15, 1.0f32), (21, 5.0)] {
        let world = drystone::scenes::trampoline(side, mass).unwrap();
        let (ball, cloth) = (world.find("ball").unwrap(), world.soft_bodies().next().unwrap());
        let mut simulation = simulation(world, iterating(10));
        for step in 0..1200 {
            run(&mut simulation, 1.0 / 60.0, 1.0 / 60.0);
            if step % 120 < 117 { continue; }
            let s = simulation.body(ball).unwrap();
            let t = simulation.soft_touches(cloth).unwrap();
            let f: Vec3 = t.touches.iter().map(|t| t.force).sum();
            let list: Vec<_> = t.touches.iter().filter(|t| t.force.length() > 0.0).map(|t| (t.triangle, t.particle, (t.force * 100.0).round() / 100.0)).collect();
            eprintln!("{step} at {} v {} f {f} {} {:?}", s.position, s.linear_velocity, list.len(), &list[..list.len().min(6)]);
        }
    }
}
