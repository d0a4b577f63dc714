//! Pictures of a run: the last state, a file a frame, or a film.

use super::files::Output;
use super::film::Film;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use drystone::Simulation;
use drystone::glam::Vec3;
use drystone::render::{Camera, Image, Picture, RenderOptions, Renderer, Show};
use drystone::scenes::Scene;
use indicatif::ProgressBar;
use std::io::Write;
use std::path::PathBuf;

/// What colours tell.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colour {
    /// Which body it is.
    Body,
    /// Which bodies are solved at the same time.
    Class,
    /// Sum of the normal forces on a body.
    Force,
    /// How fast a body is.
    Speed,
}

/// Options of `drystone run` about pictures.
#[derive(Args)]
pub struct PictureOptions {
    /// Write a picture of the last state.
    #[arg(long, value_name = "FILE", help_heading = "Pictures")]
    png: Option<PathBuf>,
    /// Write a picture of every few steps into a folder.
    #[arg(long, value_name = "FOLDER", help_heading = "Pictures")]
    frames: Option<PathBuf>,
    /// Write a film: .gif, or .apng for all colours.
    #[arg(long, value_name = "FILE", help_heading = "Pictures")]
    video: Option<PathBuf>,
    /// Steps from one frame to the next.
    #[arg(long, value_name = "STEPS", default_value_t = 2, help_heading = "Pictures")]
    every: u32,
    /// Where the camera is; chosen by the scene without it.
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true, help_heading = "Pictures")]
    camera: Option<Vec3>,
    /// What it looks at.
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true, help_heading = "Pictures")]
    look: Option<Vec3>,
    /// Angle between the upper and the lower border.
    #[arg(long, value_name = "DEGREES", help_heading = "Pictures")]
    fov: Option<f32>,
    /// Pixels across and down.
    #[arg(long, value_name = "WxH", value_parser = size, default_value = "960x540", help_heading = "Pictures")]
    size: [u32; 2],
    /// Rays a pixel: more are smoother, and take longer.
    #[arg(long, value_name = "RAYS", default_value_t = 8, help_heading = "Pictures")]
    samples: u32,
    /// Rays a sample that look for what keeps the sky's light away.
    #[arg(long, value_name = "RAYS", default_value_t = 4, help_heading = "Pictures")]
    ao: u32,
    /// What colours tell.
    #[arg(long, value_enum, default_value_t = Colour::Body, help_heading = "Pictures")]
    colour: Colour,
}

fn point(text: &str) -> Result<Vec3, String> {
    let numbers: Vec<f32> = text
        .split(',')
        .map(|t| t.trim().parse().map_err(|_| format!("`{t}` is not a number")))
        .collect::<Result<_, _>>()?;
    let [x, y, z] = numbers[..] else { return Err("expected three numbers: X,Y,Z".to_owned()) };
    Ok(Vec3::new(x, y, z))
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let parts = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    parts.ok_or_else(|| "expected pixels across and down, like 960x540".to_owned())
}

/// Writes a picture as PNG, without its alpha.
pub fn encode(image: &Image, target: impl Write) -> anyhow::Result<()> {
    let mut encoder = png::Encoder::new(target, image.width, image.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let rgb: Vec<u8> = image.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    // What comes behind the picture is written when the writer goes, too; but then nobody is told when it fails.
    Ok(writer.finish()?)
}

/// Takes the pictures of a run.
pub struct Pictures<'a> {
    options: &'a PictureOptions,
    renderer: Renderer,
    picture: Picture,
    bar: ProgressBar,
    frames: u32,
    still: Option<Output>,
    film: Option<Film>,
}

impl<'a> Pictures<'a> {
    pub fn new(
        options: &'a PictureOptions,
        scene: &Scene,
        steps: u32,
        dt: f32,
        bar: &ProgressBar,
    ) -> anyhow::Result<Self> {
        let [width, height] = options.size;
        let quality = RenderOptions { width, height, samples: options.samples, occlusion_rays: options.ao };
        let renderer = Renderer::new(quality)?;
        if options.every == 0 {
            bail!("--every is 0; frames must be at least a step apart");
        }
        let camera = Camera {
            eye: options.camera.unwrap_or(scene.camera.eye),
            target: options.look.unwrap_or(scene.camera.target),
            fov_degrees: options.fov.unwrap_or(scene.camera.fov_degrees),
        };
        camera.check()?;
        let show = match options.colour {
            Colour::Body => Show::Body,
            Colour::Class => Show::Class,
            Colour::Force => Show::Force,
            Colour::Speed => Show::Speed,
        };
        if let Some(folder) = &options.frames {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make folder {}", folder.display()))?;
        }
        let frames = steps / options.every + 1;
        let film = options.video.as_ref().map(|path| Film::new(path, options.size, frames, dt * options.every as f32));
        Ok(Self {
            options,
            renderer,
            picture: Picture::from(camera).showing(show),
            bar: bar.clone(),
            frames,
            still: options.png.as_deref().map(Output::create).transpose()?,
            film: film.transpose()?,
        })
    }

    /// What is taken.
    pub fn picture(&self) -> Picture {
        self.picture
    }

    /// How large and how smooth.
    pub fn quality(&self) -> RenderOptions {
        self.renderer.options()
    }

    fn take(&mut self, simulation: &mut Simulation) -> anyhow::Result<Image> {
        let image = self.renderer.render(simulation, &self.picture)?;
        // Colours keep their meaning from frame to frame.
        self.picture.scale = image.scale;
        Ok(image)
    }

    pub fn start(&mut self, simulation: &mut Simulation) -> anyhow::Result<()> {
        self.frame(0, simulation)
    }

    pub fn step(&mut self, step: u32, simulation: &mut Simulation) -> anyhow::Result<()> {
        if (step + 1).is_multiple_of(self.options.every) {
            self.frame((step + 1) / self.options.every, simulation)?;
        }
        Ok(())
    }

    fn frame(&mut self, number: u32, simulation: &mut Simulation) -> anyhow::Result<()> {
        if self.options.frames.is_none() && self.film.is_none() {
            return Ok(());
        }
        let image = self.take(simulation)?;
        self.bar.set_message(format!("frame {number} of {}", self.frames - 1));
        if let Some(folder) = &self.options.frames {
            let path = folder.join(format!("{number:05}.png"));
            let mut file = Output::create(&path)?;
            encode(&image, &mut file).with_context(|| format!("cannot write {}", path.display()))?;
            file.finish()?;
        }
        if let Some(film) = &mut self.film {
            film.add(&image)?;
        }
        Ok(())
    }

    pub fn finish(mut self, simulation: &mut Simulation) -> anyhow::Result<()> {
        if let Some(mut target) = self.still.take() {
            let image = self.take(simulation)?;
            encode(&image, &mut target).context("cannot write the picture")?;
            target.finish()?;
        }
        if let Some(film) = self.film {
            self.bar.set_message("writing the film");
            film.finish()?;
        }
        Ok(())
    }
}
