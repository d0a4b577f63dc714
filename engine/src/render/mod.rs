//! Pictures of a simulation, by rays through the hierarchy that the step has built.
//!
//! A [`RenderPlan`] is a recording over the step's own buffers
//! ([`Recording::sharing`](crate::plan::Recording::sharing)): it repeats the commands that build the hierarchy, so that
//! it fits the poses as they are now, and goes on with `body_values`, `eye_rays`, `cast`, `sunlight`, `occlusion`,
//! `shade` and `develop`. Nothing goes through the host. Renderers that want the picture as a debug view attach the
//! plan to their [`Program`](crate::vulkan::Program) and read [`RenderBuffers::image`]; everybody else calls
//! [`Renderer::render`].
//!
//! Bodies are drawn as they are on the device: a body added since the last step is not visible yet.

mod camera;
mod cast;
mod palette;
mod plan;

pub use camera::{Camera, bounds};
pub use cast::{RayCaster, RayHit};
pub use drystone_kernels::pictures::common::View;
pub use drystone_kernels::queries::rays::{Hit, Ray};
pub use palette::palette;
pub use plan::{RenderBuffers, RenderOptions, RenderPlan};

use crate::backend::{Part, RunTimes, RunnerExt};
use crate::glam::Vec3;
use crate::stepper::Token;
use crate::{Result, Simulation};
use drystone_kernels::pictures::common::show;

/// Why a picture or a ray cast was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A number out of its range.
    #[error("{what} is {value}; it must be {must}")]
    OutOfRange {
        /// Which.
        what: &'static str,
        /// What it was.
        value: u32,
        /// What it must be.
        must: &'static str,
    },
    /// The camera has no valid direction.
    #[error("the camera's {0}")]
    Camera(&'static str),
    /// A ray goes nowhere.
    #[error("ray {index}: {why}")]
    Ray {
        /// Which.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// What colours tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Show {
    /// Which body it is.
    #[default]
    Body,
    /// Which bodies are solved at the same time.
    Class,
    /// Sum of the normal forces on a body.
    Force,
    /// How fast a body is.
    Speed,
}

impl Show {
    fn code(self) -> u32 {
        match self {
            Self::Body => show::BODY,
            Self::Class => show::CLASS,
            Self::Force => show::FORCE,
            Self::Speed => show::SPEED,
        }
    }
}

/// A picture to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Picture {
    /// Where it is taken from.
    pub camera: Camera,
    /// What colours tell.
    pub show: Show,
    /// To the sun.
    pub sun: Vec3,
    /// Force or speed at the upper end of the ramp. Bodies that have more raise it, so 0 is the highest there is.
    pub scale: f32,
}

impl From<Camera> for Picture {
    /// With the sun behind the viewer's left shoulder, coloured by body.
    fn from(camera: Camera) -> Self {
        let (right, up, forward) = camera.axes();
        let back = Vec3::new(-forward.x, 0.0, -forward.z).normalize_or(up);
        let sun = (back * 0.45 - right * 0.75 + Vec3::Y * 1.0).normalize();
        Self { camera, show: Show::Body, sun, scale: 0.0 }
    }
}

impl Picture {
    /// The same with colours that tell something else.
    pub fn showing(mut self, show: Show) -> Self {
        self.show = show;
        self
    }

    /// As the kernels take it, for a picture of so many pixels.
    pub fn view(&self, width: u32, height: u32) -> Result<View, RenderError> {
        self.camera.check()?;
        plan::check_size(width, height)?;
        let (right, up, forward) = self.camera.axes();
        let high = (self.camera.fov_degrees.to_radians() * 0.5).tan();
        let distance = self.camera.eye.distance(self.camera.target);
        Ok(View {
            eye: self.camera.eye,
            right: right * (high * width as f32 / height as f32),
            up: up * high,
            forward,
            width,
            height,
            sun: self.sun.normalize_or(Vec3::Y),
            sun_size: 0.02,
            occlusion: distance * 0.1,
            haze: distance * 9.0,
            // Metres in a scene as large as a room or a house, else a power of ten.
            cell: 10f32.powf((distance / 15.0).log10().round()),
            show: self.show.code(),
            scale: if self.scale.is_finite() { self.scale.max(0.0) } else { 0.0 },
        })
    }
}

/// A picture that was made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Image {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Red, green, blue, alpha; row by row from the top.
    pub rgba: Vec<u8>,
    /// Force or speed at the upper end of the ramp. Given to the next picture as its scale, colours stay comparable.
    pub scale: f32,
    /// Time of every pass.
    pub times: RunTimes,
}

/// Makes pictures of a simulation.
pub struct Renderer {
    options: RenderOptions,
    attached: Option<Attached<RenderBuffers>>,
}

/// A part of a simulation's runner. It is lost when the simulation's buffers are replaced.
struct Attached<B> {
    generation: u64,
    part: Part,
    /// Without it the part is given back.
    _token: Token,
    buffers: B,
}

impl Renderer {
    /// Makes a renderer for pictures of one size and quality; allocates nothing yet. Its buffers are allocated with
    /// the first picture of a simulation, and are freed after the renderer is dropped
    /// ([`Simulation::free_attached`]), or when the simulation is dropped or its buffers grow.
    pub fn new(options: RenderOptions) -> Result<Self> {
        options.check()?;
        Ok(Self { options, attached: None })
    }

    /// Size and quality.
    pub fn options(&self) -> RenderOptions {
        self.options
    }

    /// Draws the current state of a simulation. Waits for the device.
    pub fn render(&mut self, simulation: &mut Simulation, picture: &Picture) -> Result<Image> {
        let RenderOptions { width, height, .. } = self.options;
        let view = picture.view(width, height)?;
        let generation = simulation.generation();
        if self.attached.as_ref().is_none_or(|a| a.generation != generation) {
            self.attached = None;
            simulation.free_attached()?;
            self.attached = Some(self.attach(simulation)?);
        }
        let Some(Attached { part, buffers, .. }) = &self.attached else {
            unreachable!("attached above");
        };
        let runner = simulation.runner();
        runner.write(buffers.view, &[view])?;
        let times = runner.run_part(*part)?;
        let pixels = runner.read_first(buffers.image, u64::from(width) * u64::from(height))?;
        let highest = f32::from_bits(runner.read_at(buffers.highest, 0)?);
        Ok(Image { width, height, rgba: bytemuck::cast_slice(&pixels).to_vec(), scale: view.scale.max(highest), times })
    }

    fn attach(&self, simulation: &mut Simulation) -> Result<Attached<RenderBuffers>> {
        let generation = simulation.generation();
        let base = simulation.runner().recording().clone();
        let name = base.free_name("render");
        let plan = RenderPlan::new(&base, simulation.plan(), &name, self.options)?;
        let (part, token) = simulation.attach_held(plan.recording)?;
        simulation.runner().write(plan.buffers.palette, &palette())?;
        Ok(Attached { generation, part, _token: token, buffers: plan.buffers })
    }
}
