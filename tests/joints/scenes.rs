//! The papers' figures with joints and springs, at 1/60 s.

use super::*;
use drystone::Method;
use drystone::scenes;

/// Lengths of all springs after some seconds at rest.
fn lengths(world: World, settings: Settings, seconds: f32) -> Vec<f32> {
    let joints: Vec<_> = world.joints().map(|j| world.joint(j).unwrap().clone()).collect();
    let mut simulation = simulate(world, settings);
    run(&mut simulation, seconds);
    let at = |body| simulation.body(body).unwrap().position;
    let mut at = at;
    joints.iter().map(|j| (at(j.body_a) - at(j.body_b.unwrap())).length()).collect()
}

/// The worst error of lengths, as a part of the expected ones.
fn off(found: &[f32], expected: &[f32]) -> f32 {
    found.iter().zip(expected).map(|(f, e)| (f / e - 1.0).abs()).fold(0.0, f32::max)
}

#[test]
fn spring_ratio_stretches_each_spring_by_its_load() {
    // Figure 2: blocks of 1 kg on springs of 100 and 1e6 N/m.
    let expected = [1.0 + 2.0 * G / 100.0, 1.0 + G / 1e6];
    let found = lengths(scenes::spring_ratio(1e4).unwrap(), iterating(5), 15.0);
    assert!(off(&found, &expected) < 0.02, "{found:?}, not {expected:?}");
    let plain = Settings { method: Method::Vbd, ..iterating(5) };
    let found = lengths(scenes::spring_ratio(1e4).unwrap(), plain, 15.0);
    assert!(off(&found, &expected) > 0.02, "plain VBD sags: {found:?}");
}

/// Where a chain of springs between two points comes to rest, by Newton's method in double precision: y of every block.
fn rest(blocks: usize, ratio: f64) -> Vec<f64> {
    let mut at: Vec<[f64; 2]> = (0..=blocks + 1).map(|i| [i as f64, -0.01 * (i.min(blocks + 1 - i)) as f64]).collect();
    let n = 2 * blocks;
    for _ in 0..200 {
        let mut m = vec![vec![0.0; n + 1]; n];
        for i in 1..=blocks {
            m[2 * i - 1][n] -= f64::from(G);
        }
        for i in 1..=blocks + 1 {
            let (k, rest) = if i % 2 == 1 { (1000.0, 0.5) } else { (1000.0 * ratio, 1.0) };
            let d = [at[i][0] - at[i - 1][0], at[i][1] - at[i - 1][1]];
            let length = d[0].hypot(d[1]);
            let u = [d[0] / length, d[1] / length];
            let pull = k * (length - rest);
            for r in 0..2 {
                for (node, sign) in [(i, -1.0), (i - 1, 1.0)] {
                    if (1..=blocks).contains(&node) {
                        m[2 * (node - 1) + r][n] += sign * pull * u[r];
                    }
                }
                for c in 0..2 {
                    let across = f64::from(u8::from(r == c)) - u[r] * u[c];
                    let stiff = k * u[r] * u[c] + (pull / length).max(0.0) * across;
                    for (p, q, sign) in [(i, i, 1.0), (i - 1, i - 1, 1.0), (i, i - 1, -1.0), (i - 1, i, -1.0)] {
                        if (1..=blocks).contains(&p) && (1..=blocks).contains(&q) {
                            m[2 * (p - 1) + r][2 * (q - 1) + c] += sign * stiff;
                        }
                    }
                }
            }
        }
        for p in 0..n {
            let pivot = m[p].clone();
            for row in &mut m[p + 1..] {
                let factor = row[p] / pivot[p];
                row.iter_mut().zip(&pivot).for_each(|(value, above)| *value -= factor * above);
            }
        }
        let mut step = vec![0.0; n];
        for p in (0..n).rev() {
            step[p] = (m[p][n] - (p + 1..n).map(|c| m[p][c] * step[c]).sum::<f64>()) / m[p][p];
        }
        for (i, s) in step.chunks(2).enumerate() {
            at[i + 1][0] += s[0].clamp(-0.05, 0.05);
            at[i + 1][1] += s[1].clamp(-0.05, 0.05);
        }
    }
    at[1..=blocks].iter().map(|p| p[1]).collect()
}

fn sag(settings: Settings) -> Vec<f32> {
    let world = scenes::spring_chain(10, 1e4).unwrap();
    let bodies: Vec<_> = world.handles().collect();
    let mut simulation = simulate(world, settings);
    run(&mut simulation, 10.0);
    // Nothing but the integrator damps it: the middle of what swings.
    let mut sum = vec![0.0; 10];
    for _ in 0..1200 {
        simulation.step(DT).unwrap();
        for (sum, body) in sum.iter_mut().zip(&bodies[1..11]) {
            *sum += (simulation.body(*body).unwrap().position.y - 5.0) / 1200.0;
        }
    }
    sum
}

#[test]
fn spring_chain_sags_as_it_should() {
    // Figure 4: the lowest block within 2% of the chain's true sag.
    let expected = rest(10, 1e4);
    let lowest = expected.iter().copied().fold(0.0, f64::min);
    let worst = |found: &[f32]| {
        found.iter().zip(&expected).map(|(f, e)| (f64::from(*f) - e).abs()).fold(0.0, f64::max) / -lowest
    };
    let found = sag(iterating(5));
    assert!(worst(&found) < 0.02, "{found:?}, not {expected:?}");
}

#[test]
fn spring_chain_moves_as_it_should_and_plain_vbd_does_not() {
    // Height of a block in the middle over the first second, beside one that has all the iterations it wants.
    let fall = |settings: Settings| -> Vec<f32> {
        let world = scenes::spring_chain(10, 1e4).unwrap();
        let body = world.handles().nth(5).unwrap();
        let mut simulation = simulate(world, settings);
        let heights = (0..60).map(|_| {
            simulation.step(DT).unwrap();
            simulation.body(body).unwrap().position.y - 5.0
        });
        heights.collect()
    };
    let reference = fall(iterating(200));
    let deepest = reference.iter().copied().fold(0.0, f32::min);
    let off = |found: Vec<f32>| {
        let differences = found.iter().zip(&reference).map(|(f, r)| (f - r).abs());
        differences.fold(0.0, f32::max) / -deepest
    };
    let (found, plain) = (off(fall(iterating(5))), off(fall(Settings { method: Method::Vbd, ..iterating(5) })));
    assert!(found < 0.04 && plain > 0.045, "{found} of its sag off, plain VBD {plain}");
}

/// The greatest stretch of a chain over ten seconds, as a part of its length.
fn stretch(world: World, settings: Settings, length: f64) -> f64 {
    let mut simulation = simulate(world, settings);
    let mut most = 0.0f64;
    for _ in 0..600 {
        simulation.step(DT).unwrap();
        most = most.max(errors(&mut simulation).2 / length);
    }
    most
}

#[test]
fn pendulum_keeps_its_length_at_fifty_thousand_to_one() {
    // Figure 7.
    let pendulum = || scenes::pendulum(50, 5e4, 1.5).unwrap();
    let found = stretch(pendulum(), iterating(20), 10.0);
    assert!(found < 0.01, "{found}");
    let plain = stretch(pendulum(), Settings { method: Method::Vbd, ..iterating(20) }, 10.0);
    assert!(plain > 0.01 && plain > 2.0 * found, "plain VBD stretches: {plain}");
}

#[test]
fn chain_balls_keep_their_chain() {
    // Figure 9.
    let found = stretch(scenes::chain_balls(50, 5e4).unwrap(), iterating(20), 10.0);
    assert!(found < 0.01, "{found}");
}

#[test]
fn pendulum_on_every_backend() {
    common::on_every_backend(|backend| {
        let world = scenes::pendulum(50, 5e4, 1.5).unwrap();
        let mut simulation = Simulation::new(world, iterating(20), device(backend)).unwrap();
        for step in 0..40 {
            simulation.step(DT).unwrap();
            let found = errors(&mut simulation).2 / 10.0;
            assert!(found < 0.01, "{}: step {step}: {found}", backend.name());
        }
    });
}

#[test]
fn a_wall_breaks_where_it_is_hit_and_the_rest_stays_rigid() {
    // Figure 13.
    let world = scenes::wall(12, 8).unwrap();
    let joints = world.joints().count();
    let mut simulation = simulate(world, iterating(10));
    let mut broken = Vec::new();
    for step in 0..150 {
        if step == 60 {
            for ball in scenes::wall_balls(12, 8) {
                simulation.world_mut().add(ball).unwrap();
            }
        }
        for event in simulation.step(DT).unwrap().events {
            if matches!(event.kind, drystone::EventKind::Broken { .. }) {
                broken.push(event.step);
            }
        }
        let (worst, bent, _) = errors(&mut simulation);
        assert!(step >= 60 || (worst < 2e-3 && bent < 2e-3), "step {step}: {worst} m, {bent} rad");
        assert!(step < 60 || worst < 0.1, "step {step}: {worst} m");
    }
    assert!(broken.iter().all(|step| *step > 60), "it stands until it is hit: {broken:?}");
    assert!(broken.len() > 10, "it breaks: {} of {joints} joints", broken.len());
    assert!(broken.len() < joints, "something is left: {} of {joints} joints", broken.len());
    let (worst, bent, _) = errors(&mut simulation);
    assert!(worst < 0.02 && bent < 0.05, "what is left is rigid: {worst} m, {bent} rad");
}

#[test]
fn chainmail_holds_a_ball() {
    // Figure 12, at 15 iterations as there.
    let world = scenes::chainmail(5, 500.0).unwrap();
    let ball = world.handles().last().unwrap();
    let mut simulation = simulate(world, iterating(15));
    run(&mut simulation, 2.0);
    let state = simulation.body(ball).unwrap();
    assert!(state.position.y > 4.0, "{}", state.position);
    // Rings hang within a ring's size of where they were.
    for (handle, state) in simulation.bodies().unwrap() {
        assert!(handle == ball || state.position.y > 3.5, "{}: {}", handle.index(), state.position);
    }
}

#[test]
fn limbs_with_soft_joints_come_to_rest() {
    let world = scenes::ragdolls(1).unwrap();
    let soft = Settings { k_joint: 3.0, k_load_joint: 10.0, beta_joint: 10.0, ..iterating(10) };
    let mut simulation = simulate(world, soft);
    run(&mut simulation, 10.0);
    let (worst, _, _) = errors(&mut simulation);
    assert!(worst < 0.01 * 0.3, "{worst} m");
    let fastest = simulation.bodies().unwrap().iter().map(|(_, s)| s.linear_velocity.length()).fold(0.0, f32::max);
    assert!(fastest < 0.1, "{fastest} m/s");
}

#[test]
fn every_scene_with_joints_runs() {
    let names = ["bridge", "swing_box", "ragdolls", "rope", "motor", "hinge_limits", "chain_balls"];
    for name in names {
        let scene = scenes::build(name, &Default::default()).unwrap();
        let mut simulation = simulate(scene.world, iterating(10));
        run(&mut simulation, 0.5);
        let all = simulation.bodies().unwrap();
        assert!(all.iter().all(|(_, s)| s.enabled && s.position.is_finite()), "{name}");
        assert!(errors(&mut simulation).0 < 0.1, "{name}: {:?}", errors(&mut simulation));
    }
}

#[test]
fn a_net_of_joints_on_every_backend() {
    common::on_every_backend(|backend| {
        let world = scenes::joint_grid(20).unwrap();
        let mut simulation = Simulation::new(world, iterating(10), device(backend)).unwrap();
        for _ in 0..20 {
            simulation.step(DT).unwrap();
        }
        let (worst, _, _) = errors(&mut simulation);
        assert!(worst < 0.01, "{}: {worst} m", backend.name());
    });
}

#[test]
fn a_file_has_every_type_of_joint() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/scenes/joints.json");
    let scene = scenes::file::read(path).unwrap();
    assert_eq!(scene.world.joints().count(), 10);
    let mut simulation = simulate(scene.world, scene.settings);
    run(&mut simulation, 3.0);
    let (worst, bent, _) = errors(&mut simulation);
    assert!(worst < 5e-3 && bent < 0.02, "{worst} m, {bent} rad");
    let wrong = |text: &str, says: &str| {
        let text = format!(
            "{{ \"bodies\": [{{ \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1] }}], \"joints\": [{text}] }}"
        );
        let error = scenes::file::parse(&text, "x").unwrap_err();
        assert!(error.contains(says), "`{error}` does not say `{says}`");
    };
    wrong("{ \"type\": \"glue\", \"a\": \"a\" }", "joints[0].type is `glue`");
    wrong("{ \"type\": \"ball\", \"a\": \"b\" }", "joints[0].a is `b`; there is no body of that name");
    wrong("{ \"type\": \"rod\", \"a\": \"a\" }", "joints[0].length is missing");
    wrong("{ \"type\": \"hinge\", \"a\": \"a\", \"twist\": { \"limits\": [1, 0] } }", "joints[0]");
    wrong("{ \"type\": \"hinge\", \"a\": \"a\", \"axis\": [1, 0, 0] }", "joints[0].point is missing");
}
