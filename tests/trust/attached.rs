//! What renderers, ray casters and queries take goes when they do.

use crate::common::Backend;
use crate::{DT, dynamic};
use drystone::backend::Runner;
use drystone::glam::Vec3;
use drystone::plan::{PlanError, Recording};
use drystone::queries::{QueryBatch, QueryFilter};
use drystone::render::{Camera, Picture, Ray, RayCaster, RenderOptions, Renderer};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Error, Settings, Simulation};
use drystone_kernels::primitives::probe;

fn world() -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    world.add(dynamic(Vec3::Y * 0.5)).unwrap();
    world
}

fn rays(count: usize) -> Vec<Ray> {
    vec![Ray { origin: Vec3::Y * 5.0, reach: 10.0, direction: Vec3::NEG_Y }; count]
}

#[test]
fn a_dropped_renderer_does_not_keep_its_memory() {
    dropped(&Backend::Cpu);
}

fn dropped(backend: &Backend) {
    let mut simulation = Simulation::new(world(), Settings::default(), backend.device()).unwrap();
    simulation.step(DT).unwrap();
    assert_eq!(simulation.attached_memory(), 0);
    let picture = Picture::from(Camera { eye: Vec3::new(4.0, 3.0, 6.0), target: Vec3::Y, fov_degrees: 40.0 });
    let options = RenderOptions { width: 64, height: 36, samples: 1, occlusion_rays: 0 };
    let step_alone: u64 = simulation.memory().iter().map(|m| m.bytes).sum();
    let mut first = None;
    for _ in 0..5 {
        let mut renderer = Renderer::new(options).unwrap();
        let image = renderer.render(&mut simulation, &picture).unwrap();
        let taken = simulation.attached_memory();
        assert!(taken > 64 * 36 * 4, "{taken}");
        assert_eq!(*first.get_or_insert(taken), taken, "{}: one renderer's worth", backend.name());
        assert_eq!(image.rgba.len(), 64 * 36 * 4);
    }
    assert_eq!(simulation.memory().iter().map(|m| m.bytes).sum::<u64>(), step_alone);
    simulation.free_attached().unwrap();
    assert_eq!(simulation.attached_memory(), 0);

    // A ray caster gives back what was too short, and a step gives back what was dropped.
    let mut caster = RayCaster::new();
    for count in [1, 100, 1000, 20_000] {
        assert_eq!(caster.cast(&mut simulation, &rays(count)).unwrap().iter().flatten().count(), count);
    }
    let much = simulation.attached_memory();
    let batch = || {
        let mut batch = QueryBatch::new();
        for _ in 0..2000 {
            batch.ray(Vec3::Y * 5.0, Vec3::NEG_Y, 10.0, QueryFilter::default()).unwrap();
        }
        batch
    };
    simulation.query(&batch()).unwrap();
    let with_queries = simulation.attached_memory();
    drop(caster);
    simulation.step(DT).unwrap();
    let left = simulation.attached_memory();
    assert!(left < with_queries && left < much, "{}: {left} of {with_queries}", backend.name());
    // Everything goes on.
    simulation.query(&batch()).unwrap();
    assert!(RayCaster::new().cast(&mut simulation, &rays(3)).unwrap()[0].is_some());
    Renderer::new(options).unwrap().render(&mut simulation, &picture).unwrap();
}

#[test]
fn what_another_part_uses_is_not_detached_and_what_is_gone_is_not_used() {
    detached(&Backend::Cpu);
}

fn detached(backend: &Backend) {
    let mut base = Recording::new("base");
    let words = base.buffer::<u32>("words", 16).unwrap();
    base.fill(words, 0..16, 1).unwrap();
    let mut runner = backend.runner(&base).unwrap();
    let runner: &mut dyn Runner = &mut *runner;
    let mut one = Recording::sharing(runner.recording(), "one");
    let own = one.buffer::<u32>("own", 1000).unwrap();
    one.fill(own, 0..1000, 7).unwrap();
    let one = runner.attach(one).unwrap();
    let mut two = Recording::sharing(runner.recording(), "two");
    two.copy((own, 0), (words, 0), 16).unwrap();
    let two = runner.attach(two).unwrap();
    assert!(matches!(runner.detach(one), Err(Error::PartInUse { part: 1, user: 2, .. })));
    runner.run_part(one).unwrap();
    runner.run_part(two).unwrap();
    runner.detach(two).unwrap();
    runner.detach(one).unwrap();
    assert!(matches!(runner.detach(one), Err(Error::UnknownPart { part: 1, .. })), "only once");
    assert!(matches!(runner.detach(drystone::backend::Part::FIRST), Err(Error::UnknownPart { .. })));
    assert!(matches!(runner.run_part(one), Err(Error::UnknownPart { .. })));
    let mut bytes = [0; 64];
    runner.read_bytes(words.id(), 0, &mut bytes).unwrap();
    assert_eq!(bytes[..4], [7, 0, 0, 0], "what it did stays");
    assert!(runner.read_bytes(own.id(), 0, &mut bytes).is_err(), "its buffers do not");
    let mut three = Recording::sharing(runner.recording(), "three");
    let error = three.copy((own, 0), (words, 0), 16).unwrap_err();
    assert!(matches!(error, PlanError::UnknownBuffer { .. }), "{error}");

    // With something attached behind it, the place of what is gone stays empty.
    let mut four = Recording::sharing(runner.recording(), "four");
    let own = four.buffer::<u32>("own", 1000).unwrap();
    four.fill(own, 0..1000, 7).unwrap();
    let four = runner.attach(four).unwrap();
    let mut five = Recording::sharing(runner.recording(), "five");
    let other = five.buffer::<u32>("other", 64).unwrap();
    five.fill(other, 0..64, 9).unwrap();
    let five = runner.attach(five).unwrap();
    runner.detach(four).unwrap();
    let mut six = Recording::sharing(runner.recording(), "six");
    let error = six.copy((own, 0), (words, 0), 16).unwrap_err();
    assert!(matches!(error, PlanError::Range { .. }), "{error}");
    six.dispatch(1, probe::Bind { out: own }.with(probe::Push { offset: 0 })).unwrap();
    let error = runner.attach(six).unwrap_err();
    assert!(matches!(error, Error::Plan(PlanError::Gone { .. })), "{error}");
    runner.run_part(five).unwrap();
    runner.read_bytes(other.id(), 0, &mut bytes).unwrap();
    assert_eq!(bytes[..4], [9, 0, 0, 0]);
    runner.detach(five).unwrap();
    assert_eq!(runner.recording().buffers().len(), 1);
    assert_eq!(runner.memory().len(), 1);
    runner.run().unwrap();
}

/// The same on a driver.
pub fn on_driver(backend: &Backend) {
    dropped(backend);
    detached(backend);
}
