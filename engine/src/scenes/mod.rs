//! The papers' scenes, written once for the command, tests, benches and examples; and scenes from files.

mod arch;
mod articulated;
#[cfg(feature = "scene-files")]
mod budget;
mod cameras;
mod cards;
#[cfg(feature = "scene-files")]
mod export;
mod falling;
#[cfg(feature = "scene-files")]
pub mod file;
mod folding;
mod jointed;
#[cfg(feature = "scene-files")]
mod joints;
#[cfg(feature = "scene-files")]
mod json;
mod piles;
mod script;
mod sliding;
mod soft;
#[cfg(feature = "scene-files")]
mod soft_file;
mod substeps;
mod worlds;

pub use arch::arch;
pub use articulated::{
    bridge, chainmail, hinge_limits, joint_grid, lifts, limbs, motor, ragdolls, rods, rope, swing_box, wall, wall_balls,
};
pub use cards::cards;
pub use falling::ragdoll_cloth;
pub use folding::twist;
pub use jointed::{chain_balls, pendulum, spring_chain, spring_ratio};
pub use piles::{dominoes, drop, drop_with_hulls, pile, pyramid, stack};
pub use script::{Action, Script};
pub use sliding::{friction, rolling, spinner};
pub use soft::{drape, flag, jelly, trampoline};
pub use substeps::{heavy_stack, swinging_box, swinging_bridge};
pub use worlds::cartpole;

use crate::Settings;
use crate::glam::Vec3;
use crate::render::Camera;
use crate::world::{BodyDesc, Collider, World, WorldError};
use std::collections::BTreeMap;

/// A world with its settings, and the actions that happen while it runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scene {
    /// Its name.
    pub name: String,
    /// The world at the start. What happens later names its bodies and joints: [`World::find`], [`World::find_joint`].
    pub world: World,
    /// What happens later, by the second at which it does: see [`Script`].
    pub later: Vec<(f32, Action)>,
    /// Settings it wants.
    pub settings: Settings,
    /// Seconds a step.
    pub dt: f32,
    /// Seconds worth watching.
    pub seconds: f32,
    /// Where to watch it from.
    pub camera: Camera,
}

impl Scene {
    /// A scene of 5 seconds in steps of [`DT`], in which nothing happens later.
    pub fn new(name: impl Into<String>, world: World, settings: Settings, camera: Camera) -> Self {
        Self { name: name.into(), world, later: Vec::new(), settings, dt: DT, seconds: 5.0, camera }
    }
}

/// Default force that an attachment of [`wall`] bears, newtons: eight times what the weight of eight rows asks of it.
/// Three balls break two of five attachments, at 10 iterations and at 60.
pub const WALL_BEARS: f32 = 8e4;

/// Seconds a step, unless a scene wants another.
pub const DT: f32 = 1.0 / 60.0;

/// Why a scene cannot be built, read or written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The name is not known.
    #[error("there is no scene `{name}`; there are: {}, and files that end with .json", NAMES.join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// The scene has no such parameter.
    #[error("scene `{scene}` has no parameter `{parameter}`; it has: {}", known.join(", "))]
    Parameter {
        /// The scene.
        scene: String,
        /// The parameter.
        parameter: String,
        /// Those it has.
        known: Vec<&'static str>,
    },
    /// A parameter makes no sense.
    #[error("parameter `{parameter}` of scene `{scene}` is {value}; it must be between {low} and {high}")]
    Value {
        /// The scene.
        scene: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// The least.
        low: f64,
        /// The most.
        high: f64,
    },
    /// A parameter that counts something is no whole number.
    #[error("parameter `{parameter}` of scene `{scene}` is {value}; it must be a whole number")]
    NotWhole {
        /// The scene.
        scene: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// A file that cannot be read, or makes no sense.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// Something should happen to a body that is not there.
    #[error("there is no body named `{name}`")]
    NoBody {
        /// The name.
        name: String,
    },
    /// Something should happen to a joint that is not there.
    #[error("there is no joint named `{name}`")]
    NoJoint {
        /// The name.
        name: String,
    },
    /// Files have no words for it.
    #[error("scene `{scene}` cannot be written: {problem}")]
    Unwritable {
        /// The scene.
        scene: String,
        /// Why.
        problem: String,
    },
    /// The world refused a body.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// Every scene.
pub const NAMES: &[&str] = &[
    "pile",
    "stack",
    "pyramid",
    "arch",
    "cards",
    "drop",
    "dominoes",
    "friction",
    "rolling",
    "spinner",
    "pendulum",
    "chain_balls",
    "spring_ratio",
    "spring_chain",
    "wall",
    "chainmail",
    "bridge",
    "swing_box",
    "ragdolls",
    "rope",
    "motor",
    "hinge_limits",
    "lifts",
    "rods",
    "limbs",
    "joint_grid",
    "swinging_box",
    "swinging_bridge",
    "heavy_stack",
    "flag",
    "drape",
    "jelly",
    "trampoline",
    "ragdoll_cloth",
    "twist",
];

/// Reads parameters, and remembers which there are.
struct Reader<'a> {
    scene: &'static str,
    given: &'a BTreeMap<String, f64>,
    known: Vec<&'static str>,
}

impl Reader<'_> {
    fn number(&mut self, parameter: &'static str, default: f64, low: f64, high: f64) -> Result<f64, SceneError> {
        self.known.push(parameter);
        let value = self.given.get(parameter).copied().unwrap_or(default);
        if (low..=high).contains(&value) {
            return Ok(value);
        }
        Err(SceneError::Value { scene: self.scene, parameter, value, low, high })
    }

    fn count(&mut self, parameter: &'static str, default: u32, high: u32) -> Result<u32, SceneError> {
        self.whole(parameter, default, 1, high)
    }

    /// A number of things: part of one makes no sense.
    fn whole(&mut self, parameter: &'static str, default: u32, low: u32, high: u32) -> Result<u32, SceneError> {
        let value = self.number(parameter, f64::from(default), f64::from(low), f64::from(high))?;
        if value.fract() == 0.0 {
            return Ok(value as u32);
        }
        Err(SceneError::NotWhole { scene: self.scene, parameter, value })
    }

    /// Everything that was given must have been asked for.
    fn finish(self) -> Result<(), SceneError> {
        match self.given.keys().find(|k| !self.known.contains(&k.as_str())) {
            None => Ok(()),
            Some(k) => {
                Err(SceneError::Parameter { scene: self.scene.to_owned(), parameter: k.clone(), known: self.known })
            }
        }
    }
}

/// Builds a scene by name, with parameters by name.
pub fn build(name: &str, parameters: &BTreeMap<String, f64>) -> Result<Scene, SceneError> {
    let unknown = || SceneError::Unknown { name: name.to_owned() };
    let scene = NAMES.iter().copied().find(|n| *n == name).ok_or_else(unknown)?;
    let mut p = Reader { scene, given: parameters, known: Vec::new() };
    let mut later = Vec::new();
    let (world, seconds) = match scene {
        "pile" => {
            let (bodies, levels) = (p.count("bodies", 1000, 1_000_000)?, p.count("levels", 40, 1000)?);
            let hit = p.number("hit", 2.0, 0.0, 1e6)?;
            let world = pile(bodies, levels)?;
            let balls = p.count("balls", 1, 2)?;
            // A ball a sixth as high as the pile, into its side; a second one into the other side. At 0 s there is none.
            if hit > 0.0 {
                let height = levels as f32 * 0.5;
                let ball = Collider::sphere(height * 0.15).density(4000.0);
                let place = Vec3::new(height * 1.5 + (bodies as f32 / levels as f32) * 0.2, height * 0.3, 0.0);
                for (name, side) in [("ball", 1.0), ("second ball", -1.0)].into_iter().take(balls as usize) {
                    let way = Vec3::new(side, 1.0, 1.0);
                    let ball = BodyDesc::dynamic().at(place * way).moving(Vec3::X * -40.0 * side).with(ball.clone());
                    later.push((hit as f32, thrown(name, ball)));
                }
            }
            (world, 5.0)
        }
        "stack" => {
            let (boxes, ratio) = (p.count("bodies", 10, 1000)?, p.number("ratio", 3.0, 0.01, 100.0)?);
            (stack(boxes, ratio as f32)?, 10.0)
        }
        "pyramid" => (pyramid(p.count("base", 40, 1000)?)?, 10.0),
        "arch" => {
            let (stones, thickness) = (p.whole("stones", 15, 3, 200)?, p.number("thickness", 1.0, 0.1, 4.0)?);
            (arch(stones, thickness as f32)?, 10.0)
        }
        "drop" => {
            let bodies = p.count("bodies", 1000, 1_000_000)?;
            let hulls = p.number("hulls", 0.0, 0.0, 1.0)? != 0.0;
            (if hulls { drop_with_hulls(bodies)? } else { drop(bodies)? }, 10.0)
        }
        "cards" => {
            let levels = p.count("levels", 4, 40)?;
            let hit = p.number("hit", 3.0, 0.0, 1e6)?;
            if hit > 0.0 {
                // One ball into the foot of the tower. At 0 s there is none.
                let ball = Collider::sphere(0.15).density(500.0);
                let place = Vec3::new(-0.5 * levels as f32 - 2.0, 0.4, 0.0);
                let ball = BodyDesc::dynamic().at(place).moving(Vec3::X * 8.0).with(ball);
                later.push((hit as f32, thrown("ball", ball)));
            }
            (cards(levels)?, 6.0)
        }
        "dominoes" => (dominoes(p.count("bodies", 100, 100_000)?)?, 10.0),
        "friction" => (friction(p.number("speed", 10.0, 0.1, 100.0)? as f32)?, 12.0),
        "pendulum" => {
            let (links, ratio) = (p.count("links", 50, 10_000)?, p.number("ratio", 50_000.0, 1e-3, 1e7)?);
            (pendulum(links, ratio as f32, p.number("angle", 1.5, -3.2, 3.2)? as f32)?, 10.0)
        }
        "chain_balls" => {
            let (links, ratio) = (p.count("links", 50, 10_000)?, p.number("ratio", 50_000.0, 1e-3, 1e7)?);
            (chain_balls(links, ratio as f32)?, 10.0)
        }
        "spring_ratio" => (spring_ratio(p.number("ratio", 1e4, 1e-6, 1e6)? as f32)?, 10.0),
        "spring_chain" => {
            let (blocks, ratio) = (p.count("bodies", 10, 10_000)?, p.number("ratio", 1e4, 1e-6, 1e6)?);
            (spring_chain(blocks, ratio as f32)?, 10.0)
        }
        "wall" => {
            let (columns, rows) = (p.count("columns", 12, 1000)?, p.count("rows", 8, 1000)?);
            let hit = p.number("hit", 1.0, 0.0, 1e6)?;
            if hit > 0.0 {
                let balls = (1..).zip(wall_balls(columns, rows));
                later.extend(balls.map(|(i, ball)| (hit as f32, thrown(&format!("ball {i}"), ball))));
            }
            let bears = p.number("bears", f64::from(WALL_BEARS), 1.0, 1e9)?;
            (wall(columns, rows, bears as f32)?, 5.0)
        }
        "chainmail" => {
            let (side, ball) = (p.count("side", 7, 200)?, p.number("ball", 500.0, 0.0, 1e6)?);
            let corners = p.number("corners", 0.0, 0.0, 1.0)? != 0.0;
            (chainmail(side, ball as f32, corners)?, 5.0)
        }
        "bridge" => (bridge(p.count("planks", 20, 10_000)?)?, 10.0),
        "swing_box" => {
            let (hinges, ratio) = (p.count("hinges", 25, 10_000)?, p.number("ratio", 1000.0, 1e-3, 1e7)?);
            (swing_box(hinges, ratio as f32)?, 10.0)
        }
        "ragdolls" => (ragdolls(p.count("count", 100, 100_000)?)?, 10.0),
        "rope" => (rope(p.count("segments", 20, 10_000)?)?, 10.0),
        "motor" => (motor(p.count("count", 5, 10_000)?)?, 10.0),
        "hinge_limits" => (hinge_limits(p.count("count", 5, 10_000)?)?, 5.0),
        "lifts" => (lifts(p.count("count", 5, 10_000)?)?, 5.0),
        "rods" => (rods(p.count("count", 5, 10_000)?)?, 10.0),
        "limbs" => (limbs(p.count("count", 5, 10_000)?)?, 5.0),
        "joint_grid" => (joint_grid(p.count("side", 190, 2000)?)?, 3.0),
        "swinging_box" => {
            let (links, mass) = (p.count("links", 25, 10_000)?, p.number("mass", 1000.0, 1e-3, 1e7)?);
            (swinging_box(links, mass as f32)?, 20.0)
        }
        "swinging_bridge" => (swinging_bridge(p.count("planks", 20, 10_000)?)?, 20.0),
        "heavy_stack" => {
            let (levels, mass) = (p.count("levels", 4, 100)?, p.number("mass", 1e4, 1e-3, 1e7)?);
            (heavy_stack(levels, mass as f32)?, 10.0)
        }
        "flag" => {
            let (columns, rows) = (p.whole("columns", 50, 2, 2000)?, p.whole("rows", 30, 2, 2000)?);
            (flag(columns, rows, p.count("segments", 20, 1000)?)?, 10.0)
        }
        "drape" => (drape(p.whole("side", 40, 2, 2000)?)?, 5.0),
        "jelly" => (jelly(p.count("towers", 3, 1000)?, p.count("layers", 2, 10)?)?, 5.0),
        "trampoline" => {
            let (side, mass) = (p.whole("side", 30, 3, 2000)?, p.number("mass", 5.0, 1e-3, 1e4)?);
            (trampoline(side, mass as f32)?, 5.0)
        }
        "ragdoll_cloth" => {
            // All of it: 35,000 bodies on 71,970 joints, 10,000 particles 0.2 m apart. A part of the bodies is a heap of
            // the same shape.
            let part = p.number("part", 1.0, 1e-3, 100.0)?;
            let some = |of: f64| (of * part).round().max(1.0) as u32;
            let side = p.whole("side", ((100.0 * part.cbrt()).round() as u32).max(3), 3, 2000)?;
            let width = p.number("width", 0.2 * f64::from(side - 1), 0.1, 1e4)?;
            (ragdoll_cloth(some(950.0), some(80.0), side, width as f32)?, 10.0)
        }
        "twist" => {
            let (around, along) = (p.whole("around", 32, 3, 2000)?, p.whole("along", 26, 2, 2000)?);
            (twist(around, along, p.number("turns", 2.0, -100.0, 100.0)? as f32)?, 10.0)
        }
        "rolling" => (rolling(p.number("angle", 0.3, 0.0, 1.5)? as f32)?, 3.0),
        _ => (spinner(p.number("speed", 10.0, 0.0, 100.0)? as f32)?, 10.0),
    };
    p.finish()?;
    let (substeps, iterations) = meant_for(scene);
    let mut settings = Settings::default().with(|s| (s.substeps, s.iterations) = (substeps, iterations));
    if ["swinging_box", "swinging_bridge", "heavy_stack"].contains(&scene) {
        settings.substeps_most = MOST_SUBSTEPS;
    }
    let camera = cameras::camera(scene, &world);
    Ok(Scene { name: scene.to_owned(), world, later, settings, dt: DT, seconds, camera })
}

/// Sub-steps that scenes of "Adaptive Sub-stepping" have at most: twice as many as they come to ask for.
const MOST_SUBSTEPS: u32 = 30;

/// A body that is thrown in, and what it is called from then on.
fn thrown(name: &str, body: BodyDesc) -> Action {
    Action::Add { name: Some(name.to_owned()), body }
}

/// Sub-steps and iterations of a scene: those of its figure in "Augmented Vertex Block Descent", or of the paper that
/// the scene is from. Scenes from no paper have those with which their tests pass.
fn meant_for(scene: &str) -> (u32, u32) {
    match scene {
        // Figures 2 and 4: springs.
        "spring_ratio" | "spring_chain" => (1, 5),
        // Figure 5.
        "flag" => (1, 5),
        // Figure 6.
        "cards" => (5, 5),
        // Figures 7, 8 and 15; Figure 9 has the same chain and does not say; Figure 10.
        "pendulum" | "chain_balls" | "stack" => (1, 20),
        // Figure 12.
        "chainmail" => (1, 15),
        // Figure 14. Figure 13 does not say.
        "joint_grid" | "wall" | "ragdoll_cloth" => (1, 10),
        // "Adaptive Sub-stepping", section 4: at most 25 iterations. Its sub-steps, as many as a bound on stability
        // asks for, are its own.
        "bridge" | "swing_box" => (1, 25),
        // The same as published, with sub-steps that are chosen.
        "swinging_box" | "swinging_bridge" | "heavy_stack" => (1, 25),
        // A box 120 times as heavy as a segment.
        "rope" => (1, 20),
        // Soft bodies: what a blow does to one has to go through it.
        "drape" | "jelly" | "trampoline" | "twist" => (1, 10),
        // Limbs that fall under limbs: at 4 iterations some end up beyond their limits.
        "ragdolls" => (2, 5),
        // Figures 1, 3 and 11, and scenes of no paper.
        _ => (1, 4),
    }
}

/// A world with a floor at y = 0.
pub fn floor(friction: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    world.add_named("floor", BodyDesc::fixed().with(Collider::half_space().friction(friction)))?;
    Ok(world)
}
