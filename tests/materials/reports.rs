//! Contacts that are told by events, to those who asked for it.

use super::*;
use crate::common::{Backend, on_every_backend};
use drystone::world::{BodyHandle, ContactReports};
use drystone::{Contact, EventKind, Snapshot, StepReport};

const DT: f32 = 1.0 / 60.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Begin,
    Persist,
    End,
}

fn contacts(report: &StepReport) -> Vec<(u64, What, Contact)> {
    let told = report.events.iter().filter_map(|e| match e.kind {
        EventKind::ContactBegin(c) => Some((e.step, What::Begin, c)),
        EventKind::ContactPersist(c) => Some((e.step, What::Persist, c)),
        EventKind::ContactEnd(c) => Some((e.step, What::End, c)),
        _ => None,
    });
    told.collect()
}

fn told(simulation: &mut Simulation, steps: u32) -> Vec<(u64, What, Contact)> {
    (0..steps).flat_map(|_| contacts(&simulation.step(DT).unwrap())).collect()
}

/// A ball of 1 kg that falls 0.5 m onto the floor; only one of the two asked.
fn falling(reports: ContactReports, by_ball: bool) -> (World, BodyHandle) {
    let asks = |yes: bool| if yes { reports } else { ContactReports::NONE };
    let mut world = on_floor(Collider::half_space().reports(asks(!by_ball)), 0.0);
    let ball = BodyDesc::dynamic().at(Vec3::new(2.0, 1.0, 3.0)).weighing(1.0);
    let ball = world.add(ball.with(Collider::sphere(0.5).reports(asks(by_ball)))).unwrap();
    (world, ball)
}

#[test]
fn an_impact_rest_and_lift_are_told_with_impulse_and_point_on_every_backend() {
    for by_ball in [true, false] {
        let on = |test: &dyn Fn(&Backend)| if by_ball { on_every_backend(test) } else { test(&Backend::Cpu) };
        on(&|backend| {
            let (world, ball) = falling(ContactReports::ALL, by_ball);
            let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
            let events = told(&mut simulation, 90);
            let place = backend.name();
            assert_eq!(events[0].1, What::Begin, "{place}: {events:?}");
            assert!(events[1..].iter().all(|e| e.1 == What::Persist), "{place}: {events:?}");
            // It touches after sqrt(2 h / g), with sqrt(2 g h).
            let (when, speed) = ((2.0 * 0.5 / G).sqrt(), (2.0 * G * 0.5).sqrt());
            assert!((events[0].0 as f32 * DT - when).abs() < 2.0 * DT, "{place}: step {}", events[0].0);
            // Every step from then on is told once, by number.
            assert!(events.windows(2).all(|w| w[1].0 == w[0].0 + 1), "{place}: {events:?}");
            assert_eq!(events.last().unwrap().0, 89, "{place}");
            let on_ball = |c: &Contact| if c.a == ball { c.impulse } else { -c.impulse };
            // What stops it is spread over the first steps.
            let stops: f32 = events[..8].iter().map(|e| on_ball(&e.2).y - G * DT).sum();
            assert!((stops / speed - 1.0).abs() < 0.1, "{place}: {stops} N s for {speed} m/s");
            let (_, _, rest) = events.last().unwrap();
            assert!((on_ball(rest).y / (G * DT) - 1.0).abs() < 0.01, "{place}: {rest:?}");
            assert!((rest.point - Vec3::new(2.0, 0.0, 3.0)).length() < 0.02, "{place}: {rest:?}");
            simulation.world_mut().set_velocity(ball, Vec3::Y * 5.0, Vec3::ZERO).unwrap();
            let events = told(&mut simulation, 3);
            let kinds: Vec<_> = events.iter().map(|e| (e.0, e.1)).collect();
            assert_eq!(kinds, [(90, What::End)], "{place}: {events:?}");
            assert_eq!((events[0].2.impulse, events[0].2.point), (Vec3::ZERO, Vec3::ZERO));
            if by_ball {
                below_the_impulse_that_is_asked_for(backend);
            }
        });
    }
}

#[test]
fn only_what_was_asked_for_is_told_and_costs_anything() {
    let kinds = |reports| {
        let (world, ball) = falling(reports, true);
        let mut simulation = simulate(world, 4);
        let mut events = told(&mut simulation, 60);
        simulation.world_mut().set_velocity(ball, Vec3::Y * 5.0, Vec3::ZERO).unwrap();
        events.extend(told(&mut simulation, 2));
        let count = |what| events.iter().filter(|e| e.1 == what).count();
        let commands = simulation.plan().recording.commands().iter();
        let stages = commands.filter(|c| c.name().starts_with("touching")).count();
        ([What::Begin, What::Persist, What::End].map(count), stages)
    };
    assert_eq!(kinds(ContactReports::NONE), ([0; 3], 0), "no pass for what nobody asked for");
    assert_eq!(kinds(ContactReports::CHANGES), ([1, 0, 1], 3));
    let ([begin, persist, end], _) = kinds(ContactReports { persist: true, ..ContactReports::NONE });
    assert!(begin == 0 && persist > 30 && end == 0);
    // In a heap only one body's contacts are told.
    let mut world = on_floor(Collider::half_space(), 0.0);
    let mut asks = None;
    for i in 0..60u32 {
        let at = Vec3::new((i % 4) as f32 * 0.6, 0.3 + (i / 16) as f32 * 0.7, (i / 4 % 4) as f32 * 0.6);
        let reports = if i == 21 { ContactReports::ALL } else { ContactReports::NONE };
        let body = world.add(BodyDesc::dynamic().at(at).with(Collider::sphere(0.29).reports(reports))).unwrap();
        asks = if i == 21 { Some(body) } else { asks };
    }
    let events = told(&mut simulate(world, 4), 60);
    let asks = asks.unwrap();
    assert!(events.len() > 20 && events.iter().all(|e| e.2.a == asks || e.2.b == asks), "{}", events.len());
}

#[test]
fn what_is_taken_away_ends_and_what_is_removed_is_not_told() {
    let (world, ball) = falling(ContactReports::ALL, true);
    let mut simulation = simulate(world, 4);
    told(&mut simulation, 60);
    simulation.world_mut().set_pose(ball, Vec3::Y * 100.0, Quat::IDENTITY).unwrap();
    let events = told(&mut simulation, 3);
    assert_eq!(events.iter().map(|e| (e.0, e.1)).collect::<Vec<_>>(), [(60, What::End)], "{events:?}");
    simulation.world_mut().set_pose(ball, Vec3::Y * 0.49, Quat::IDENTITY).unwrap();
    simulation.world_mut().set_velocity(ball, Vec3::ZERO, Vec3::ZERO).unwrap();
    assert_eq!(told(&mut simulation, 10)[0].1, What::Begin);
    // Another in its slot at the same place begins anew; nothing is told of the one that was there.
    simulation.world_mut().remove(ball).unwrap();
    let new = BodyDesc::dynamic().at(Vec3::Y * 0.49).with(Collider::sphere(0.5).reports(ContactReports::ALL));
    let new = simulation.world_mut().add(new).unwrap();
    assert_eq!(new.index(), ball.index());
    let events = told(&mut simulation, 4);
    assert_eq!(events[0].1, What::Begin, "{events:?}");
    assert!(events.iter().all(|e| e.1 != What::End && (e.2.a == new || e.2.b == new)), "{events:?}");
}

#[test]
fn sub_steps_have_numbers_and_a_restored_world_goes_on_telling() {
    let (world, _) = falling(ContactReports::ALL, true);
    let settings = Settings::default().with(|s| s.substeps = 3);
    let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: Some(1) }).unwrap();
    let events = told(&mut simulation, 60);
    assert!(events.windows(2).all(|w| w[1].0 == w[0].0 + 1) && events.last().unwrap().0 == 179, "{events:?}");
    let bytes = simulation.snapshot().unwrap().to_bytes();
    let next = told(&mut simulation, 1);
    assert!(next.len() == 3 && next.iter().all(|e| e.1 == What::Persist), "{next:?}");
    let mut restored =
        Simulation::from_snapshot(&Snapshot::from_bytes(&bytes).unwrap(), Device::Cpu { threads: Some(1) }).unwrap();
    assert_eq!(told(&mut restored, 1), next, "as if it had never stopped");
}

/// Contacts that push less than is asked for are not told.
fn below_the_impulse_that_is_asked_for(backend: &Backend) {
    const LEAST: f32 = 0.3;
    const STEPS: u32 = 45;
    // Every colour is a dispatch, and they are what takes time on drivers.
    let mut few = Settings::default();
    few.set_all([("iterations", 4.0), ("cold_iterations", 0.0), ("colours", 2.0)]).unwrap();
    let place = backend.name();
    let run = |ball_asks: Option<f32>, floor_asks: Option<f32>| {
        let asks = |c: Collider, least: Option<f32>| match least {
            Some(least) => c.reports(ContactReports::ALL).report_impulse(least),
            // Nobody hears of what it does not ask for: this counts for nothing.
            None => c.report_impulse(1e-6),
        };
        let mut world = on_floor(asks(Collider::half_space(), floor_asks), 0.0);
        let ball = BodyDesc::dynamic().at(Vec3::Y).weighing(1.0).with(asks(Collider::sphere(0.5), ball_asks));
        world.add(ball).unwrap();
        told(&mut Simulation::new(world, few, backend.device()).unwrap(), STEPS)
    };
    let all = run(Some(0.0), None);
    // What should be told follows from all that there is: it rests with less than is asked for.
    let (mut expected, mut before) = (Vec::new(), false);
    for (step, _, contact) in &all {
        let now = contact.impulse.length() >= LEAST;
        match (before, now) {
            (false, true) => expected.push((*step, What::Begin)),
            (true, true) => expected.push((*step, What::Persist)),
            (true, false) => expected.push((*step, What::End)),
            (false, false) => {}
        }
        before = now;
    }
    assert!(expected.len() > 2 && expected.len() + 10 < all.len(), "{place}: {expected:?}");
    assert_eq!(expected.last().unwrap().1, What::End, "{place}");
    let kinds = |events: Vec<(u64, What, Contact)>| events.iter().map(|e| (e.0, e.1)).collect::<Vec<_>>();
    assert_eq!(kinds(run(Some(LEAST), Some(50.0))), expected, "{place}: of two the smaller counts");
    if matches!(backend, Backend::Cpu) {
        for (ball, floor) in [(Some(LEAST), None), (None, Some(LEAST)), (Some(50.0), Some(LEAST))] {
            assert_eq!(kinds(run(ball, floor)), expected, "{ball:?} {floor:?}");
        }
        assert!(run(Some(50.0), None).is_empty(), "{place}");
    }
}

#[test]
fn impulses_to_ask_for_are_checked() {
    let mut world = World::new();
    for wrong in [-1.0, f32::NAN, f32::INFINITY] {
        let ball = BodyDesc::dynamic().with(Collider::sphere(0.5).report_impulse(wrong));
        assert!(world.add(ball).unwrap_err().to_string().contains("report_impulse"), "{wrong}");
    }
}

#[test]
fn colliders_may_ask_later_for_another_impulse_and_snapshots_keep_it() {
    let (world, ball) = falling(ContactReports::ALL, true);
    let mut simulation = simulate(world, 4);
    told(&mut simulation, 60);
    simulation.world_mut().set_material(ball, 0, |c| c.report_impulse = 1.0).unwrap();
    let bytes = simulation.snapshot().unwrap().to_bytes();
    let kinds = |s: &mut Simulation| told(s, 3).iter().map(|e| (e.0, e.1)).collect::<Vec<_>>();
    // It rests, which is less than it asks for from now on.
    assert_eq!(kinds(&mut simulation), [(60, What::End)]);
    let snapshot = Snapshot::from_bytes(&bytes).unwrap();
    let mut restored = Simulation::from_snapshot(&snapshot, Device::Cpu { threads: Some(1) }).unwrap();
    assert_eq!(kinds(&mut restored), [(60, What::End)]);
    assert!(kinds(&mut restored).is_empty());
}

#[test]
fn events_beyond_the_room_are_counted_and_the_room_is_the_hosts_choice() {
    use drystone::Stepper;
    use drystone::state::Capacities;
    const BALLS: u32 = 4200;
    let mut world = on_floor(Collider::half_space(), 0.0);
    for i in 0..BALLS {
        let at = Vec3::new((i % 70) as f32, 0.29, (i / 70) as f32);
        world.add(BodyDesc::dynamic().at(at).with(Collider::sphere(0.3).reports(ContactReports::ALL))).unwrap();
    }
    let mut settings = Settings::default();
    settings.set_all([("iterations", 4.0), ("cold_iterations", 0.0)]).unwrap();
    for (events, expected) in [(0, 4096), (10, 10), (5000, BALLS as usize)] {
        let room = Capacities { pairs: 10_000, manifolds: 5000, events, ..Default::default() };
        let device = Device::Cpu { threads: None };
        let mut stepper = Stepper::with_user_buffers(&device, world.clone(), settings, room, Vec::new()).unwrap();
        let prepared = stepper.prepare(DT).unwrap();
        let report = stepper.run(prepared).unwrap();
        let begun = contacts(&report).len();
        assert_eq!((begun, report.events_lost as usize), (expected, BALLS as usize - expected), "room {events}");
    }
    let room = Capacities { events: u32::MAX, ..Default::default() };
    let refused = Stepper::with_user_buffers(&Device::Cpu { threads: None }, world, settings, room, Vec::new());
    assert!(refused.err().unwrap().to_string().contains("events"));
}
