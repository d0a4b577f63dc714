//! Some of the cases on llvmpipe and SwiftShader, with the same criteria: small and short, since drivers run on the
//! same processor, under validation, and take ten times as long.

use super::*;
use common::{Backend, DRIVERS, on_device};

/// A device compiles its kernels once, so that all cases of a driver run on one.
fn cases(backend: &Backend) {
    let mut table = Table::new("driver");
    let name = backend.name();
    for (boxes, degrees, iterations, seconds) in [(10, 2.0, 4, 3.0), (20, 0.5, 10, 1.5)] {
        let world = standing::tower(boxes, 0.5, degrees, 0.0);
        let stood = Stood::on(backend.device(), world, iterating(iterations), DT, seconds);
        // It leans while the load builds up, and has had no two minutes to come to rest.
        let what = format!("{name}: {boxes} boxes on {degrees} degrees, {iterations} iterations: {stood}");
        table.row(what, stood.drift < 0.05 && stood.fastest < 0.1);
    }
    for (boxes, ratio, iterations, seconds) in [(10, 3.0, 4, 2.0), (20, 2.0, 20, 1.0)] {
        let world = scenes::stack(boxes, ratio).unwrap();
        let stood = Stood::on(backend.device(), world, iterating(iterations), DT, seconds);
        table.row(format!("{name}: stack of {boxes}, {ratio} x, {iterations} iterations: {stood}"), stood.drift < 0.1);
    }
    for (links, ratio, angle, iterations, seconds) in [(20, 5e4, 1.5, 20, 1.0), (10, 1e3, 0.0, 10, 0.5)] {
        let world = scenes::pendulum(links, ratio, angle).unwrap();
        let most = stretches(backend, world, iterations, seconds);
        let what = format!("{name}: pendulum of {links}, 1:{ratio}, {angle} rad, {iterations} iterations");
        table.row(format!("{what}: {:.3}%", 100.0 * most), most < 0.01);
    }
    let (most, _) = loads::moves(backend.device(), loads::chain(20, 0.1, 100.0), iterating(4), DT, 2.0);
    table.row(format!("{name}: 20 hinges under 100 kg, 4 iterations: {:.3}%", 50.0 * most), most < 0.03 * 2.0);
    for (side, corners, ball, seconds) in [(5, false, 500.0, 1.0), (5, true, 500.0, 1.5)] {
        let world = scenes::chainmail(side, ball, corners).unwrap();
        let (lost, _) = mail::most_lost(backend.device(), world, iterating(15), seconds);
        table.row(format!("{name}: mail of {side}, corners {corners}, {ball} kg: {lost} lost"), lost == 0);
    }
    table.check();
}

fn stretches(backend: &Backend, world: World, iterations: u32, seconds: f32) -> f32 {
    loads::stretches(backend.device(), world, iterating(iterations), DT, seconds)
}

#[test]
fn cases_hold_on_llvmpipe() {
    on_device(DRIVERS[0].0, cases);
}

#[test]
fn cases_hold_on_swiftshader() {
    on_device(DRIVERS[1].0, cases);
}
