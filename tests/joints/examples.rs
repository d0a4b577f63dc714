//! The files in `examples/scenes/joints`, one a type: what each of them is there to show.

use super::*;
use drystone::glam::Quat;
use drystone::scenes::{Scene, Script, file};
use drystone::{BodyState, EventKind};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/scenes/joints");

/// A file that runs.
struct Example {
    scene: Scene,
    simulation: Simulation,
    script: Script,
    step: u32,
    broken: Vec<JointHandle>,
}

impl Example {
    fn new(name: &str) -> Self {
        let scene = file::read(format!("{FOLDER}/{name}.json")).unwrap_or_else(|e| panic!("{e}"));
        let simulation = simulate(scene.world.clone(), scene.settings);
        Self { script: Script::new(&scene), scene, simulation, step: 0, broken: Vec::new() }
    }

    fn step(&mut self) {
        let (time, dt) = (f64::from(self.step) * f64::from(self.scene.dt), self.scene.dt);
        self.script.before_step(&mut self.simulation, time, dt).unwrap();
        for event in self.simulation.step(dt).unwrap().events {
            if let EventKind::Broken { joint, .. } = event.kind {
                self.broken.push(joint);
            }
        }
        self.step += 1;
    }

    fn until(&mut self, seconds: f32) {
        while self.step < (seconds / self.scene.dt).round() as u32 {
            self.step();
        }
    }

    fn body(&mut self, name: &str) -> BodyState {
        self.simulation.body(self.scene.world.find(name).unwrap()).unwrap()
    }

    fn pull(&mut self, name: &str) -> Vec3 {
        self.simulation.joint(self.scene.world.find_joint(name).unwrap()).unwrap().force
    }
}

/// How far a rotation about z goes.
fn tilt(rotation: Quat) -> f32 {
    let x = rotation * Vec3::X;
    x.y.atan2(x.x)
}

#[test]
fn every_file_is_looked_at_here() {
    let mut names: Vec<String> = std::fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let here = include_str!("examples.rs");
    let readme = include_str!("../../examples/scenes/README.md");
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        assert!(here.contains(&format!("Example::new(\"{name}\")")), "{name}.json has no test");
        assert!(readme.contains(&format!("joints/{name}.json")), "{name}.json is not in the README");
    }
}

#[test]
fn ball_is_a_pendulum_with_its_period() {
    let mut file = Example::new("ball");
    let (mut crossings, mut before) = (Vec::new(), 0.1);
    while file.step < 600 {
        file.step();
        let x = file.body("bob").position.x;
        if before > 0.0 && x <= 0.0 {
            crossings.push((file.step as f32 - x / (x - before)) * DT);
        }
        before = x;
    }
    let period = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f32;
    // A ball of 0.1 m turns with its string.
    let length = 1.01f32.sqrt();
    let expected = std::f32::consts::TAU * ((0.4 * 0.01 + length * length) / (G * length)).sqrt();
    assert!((period / expected - 1.0).abs() < 0.01, "{period} s, not {expected}");
}

#[test]
fn hinge_falls_to_its_limit() {
    let mut file = Example::new("hinge");
    file.until(4.0);
    let angle = tilt(file.body("flap").rotation);
    assert!((angle + 0.5).abs() < 0.5f32.to_radians(), "{angle} rad");
}

#[test]
fn motor_speeds_up_with_its_torque() {
    // 0.5 N m on 3 kg (1 + 1) / 12: a radian a second, every second, up to two.
    let mut file = Example::new("motor");
    for (seconds, expected) in [(0.5, 0.5), (1.0, 1.0), (4.0, 2.0)] {
        file.until(seconds);
        let speed = file.body("wheel").angular_velocity.z;
        assert!((speed - expected).abs() < 0.02, "{seconds} s: {speed} rad/s, not {expected}");
    }
}

#[test]
fn slider_rises_to_its_limit() {
    let mut file = Example::new("slider");
    for (seconds, expected) in [(1.0, 1.5), (2.0, 2.0), (5.0, 2.5)] {
        file.until(seconds);
        let state = file.body("lift");
        assert!((state.position - Vec3::Y * expected).length() < 0.02, "{seconds} s: {}", state.position);
    }
}

#[test]
fn fixed_holds_where_it_is_strong_enough() {
    // 4 kg half a metre out: 19.6 N m.
    let mut file = Example::new("fixed");
    file.until(2.0);
    assert_eq!(file.broken, [file.scene.world.find_joint("breaks").unwrap()]);
    assert!((file.body("strong").position - Vec3::new(0.5, 2.0, 0.0)).length() < 5e-3);
    assert!(file.body("weak").position.y < -5.0, "it falls");
}

#[test]
fn rod_pushes_and_pulls_with_what_a_circle_needs() {
    let mut file = Example::new("rod");
    let (mut least, mut most) = (0.0f32, 0.0f32);
    while file.step < 300 {
        file.step();
        let (ball, step) = (file.body("ball"), file.step);
        let out = ball.position - Vec3::Y * 3.0;
        assert!((out.length() - 1.0).abs() < 5e-3, "step {step}: {} m", out.length());
        // m (v^2 / r - g cos), towards the middle; the weight of 2 kg is what it may be off by a tenth of.
        let pull = -file.pull("rod").dot(out);
        let expected = 2.0 * (ball.linear_velocity.length_squared() - G * out.y);
        assert!((pull - expected).abs() < 0.1 * (2.0 * G + expected.abs()), "step {step}: {pull} N, not {expected}");
        (least, most) = (least.min(pull), most.max(pull));
    }
    assert!(least < -10.0 && most > 60.0, "it pushed with {least} N and pulled with {most} N");
}

#[test]
fn rope_is_slack_and_then_holds() {
    let mut file = Example::new("rope");
    file.until(0.3);
    let fall = 0.5 * G * DT * DT * (18 * 19) as f32;
    let y = file.body("ball").position.y;
    assert!((y - (2.5 - fall)).abs() < 1e-4 && file.pull("rope") == Vec3::ZERO, "{y} m");
    file.until(5.0);
    let (y, pull) = (file.body("ball").position.y, file.pull("rope").y);
    assert!((y - 2.0).abs() < 5e-3 && (pull / (4.0 * G) - 1.0).abs() < 0.02, "{y} m, {pull} N");
}

#[test]
fn spring_is_longer_by_the_weight() {
    let mut file = Example::new("spring");
    file.until(10.0);
    let (y, pull) = (file.body("weight").position.y, file.pull("spring").y);
    let expected = 2.0 - 2.0 * G / 200.0;
    assert!((y - expected).abs() < 1e-3, "{y} m, not {expected}");
    assert!((pull / (2.0 * G) - 1.0).abs() < 0.01, "{pull} N");
}

#[test]
fn generic_leans_on_its_limit() {
    let mut file = Example::new("generic");
    file.until(5.0);
    let state = file.body("limb");
    let angle = tilt(state.rotation);
    assert!((angle - 0.5).abs() < 0.5f32.to_radians(), "{angle} rad");
    let foot = state.position + state.rotation * (Vec3::Y * -0.4);
    assert!((foot - Vec3::Y).length() < 2e-3, "{foot}");
}

#[test]
fn stiff_gives_way_by_the_weight() {
    // The weight's moment is that of the spring: m g cos(a) / 2 = 400 a.
    let mut file = Example::new("stiff");
    file.until(5.0);
    let angle = -tilt(file.body("board").rotation);
    let expected = 4.0 * G * 0.5 * angle.cos() / 400.0;
    assert!((angle / expected - 1.0).abs() < 0.02, "{angle} rad, not {expected}");
}

#[test]
fn breaking_drops_a_lamp_and_catches_it() {
    let mut file = Example::new("breaking");
    file.until(1.0);
    let place = Vec3::Y * 2.0;
    assert!((file.body("lamp").position - place).length() < 1e-3, "it hangs");
    file.until(1.2);
    let fall = 0.5 * G * DT * DT * (12 * 13) as f32;
    let y = file.body("lamp").position.y;
    assert!((y - (2.0 - fall)).abs() < 2e-3, "{y} m after a fall of {fall} m");
    file.until(3.0);
    assert!((file.body("lamp").position - place).length() < 5e-3, "{}", file.body("lamp").position);
    file.until(4.0);
    let y = file.body("lamp").position.y;
    assert!((y - 0.2).abs() < 5e-3, "it lies on the floor: {y} m");
    assert!(file.broken.is_empty(), "nothing broke by itself");
}

#[test]
fn mistakes_in_joints_are_named_with_their_place() {
    let body = |name: &str| format!("{{ \"name\": \"{name}\", \"mass\": 1, \"inertia\": [1, 1, 1] }}");
    let wrong = |joints: &str, later: &str, says: &str| {
        let bodies = format!("[{}, {}]", body("a"), body("c"));
        let text = format!("{{ \"bodies\": {bodies}, \"joints\": [{joints}], \"later\": [{later}] }}");
        let error = file::parse(&text, "x").unwrap_err();
        assert!(error.starts_with(says), "`{error}` does not say `{says}`");
    };
    let hook = r#"{ "type": "ball", "name": "hook", "a": "a", "b": "c" }"#;
    wrong(r#"{ "type": "glue", "a": "a" }"#, "", "joints[0].type is `glue`");
    wrong(r#"{ "type": "ball", "a": "b" }"#, "", "joints[0].a is `b`; there is no body of that name");
    wrong(r#"{ "type": "rod", "a": "a" }"#, "", "joints[0].length is missing");
    wrong(r#"{ "type": "hinge", "a": "a", "twist": { "limits": [1, 0] } }"#, "", "joints[0]");
    wrong(r#"{ "type": "hinge", "a": "a", "axis": [1, 0, 0] }"#, "", "joints[0].point is missing");
    wrong(r#"{ "type": "ball", "a": "a", "name": 3 }"#, "", "joints[0].name is a number; it must be a string");
    wrong(r#"{ "type": "ball", "a": "a", "broken": 1 }"#, "", "joints[0].broken is a number; it must be true or false");
    wrong(&format!("{hook}, {hook}"), "", "joints[1].name is `hook`, which another joint is called");
    wrong(hook, r#"{ "at": 1, "break": "hock" }"#, "later[0].break is `hock`; there is no joint of that name then");
    wrong(hook, r#"{ "at": 1, "repair": 5 }"#, "later[0].repair is a number; it must be a string");
    wrong(hook, r#"{ "at": 1, "break": "hook", "repair": "hook" }"#, "later[0] needs one of: add, remove");
    // A body takes its joints along.
    for body in ["a", "c"] {
        let later = format!(r#"{{ "at": 2, "repair": "hook" }}, {{ "at": 1, "remove": "{body}" }}"#);
        wrong(hook, &later, "later[0].repair is `hook`; there is no joint of that name then");
    }
}

#[test]
fn a_joint_may_be_broken_from_the_start() {
    let text = r#"{
        "bodies": [{ "name": "a", "mass": 1, "inertia": [1, 1, 1] }],
        "joints": [{ "type": "ball", "name": "hook", "a": "a", "broken": true }],
        "later": [{ "at": 0.5, "repair": "hook" }]
    }"#;
    let scene = file::parse(text, "x").unwrap();
    let (body, hook) = (scene.world.find("a").unwrap(), scene.world.find_joint("hook").unwrap());
    let mut script = Script::new(&scene);
    let mut simulation = simulate(scene.world, scene.settings);
    assert!(simulation.world().is_broken(hook).unwrap());
    for step in 0..180 {
        script.before_step(&mut simulation, f64::from(step) * f64::from(DT), DT).unwrap();
        simulation.step(DT).unwrap();
        assert_eq!(simulation.world().is_broken(hook).unwrap(), step < 30, "step {step}");
        if step == 29 {
            let speed = simulation.body(body).unwrap().linear_velocity.y;
            assert!((speed + 30.0 * DT * G).abs() < 1e-3, "{speed} m/s");
        }
    }
    let height = simulation.body(body).unwrap().position.y;
    assert!(height > -0.1, "it is pulled back, not at {height}");
}
