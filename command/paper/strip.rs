//! A few pictures of a run side by side, as one PNG.

use super::super::html::base64;
use super::super::pictures::encode;
use drystone::Simulation;
use drystone::render::{Camera, Image, Picture, RenderOptions, Renderer};

/// Pictures of a strip, and pixels of one. Small: a page has a hundred of them.
const STILLS: u32 = 3;
const SIZE: [u32; 2] = [200, 140];

/// A strip that is being taken.
pub struct Strip {
    renderer: Renderer,
    picture: Picture,
    stills: Vec<Image>,
}

impl Strip {
    pub fn new(camera: Camera) -> anyhow::Result<Self> {
        let [width, height] = SIZE;
        let renderer = Renderer::new(RenderOptions { width, height, samples: 2, occlusion_rays: 2 })?;
        Ok(Self { renderer, picture: Picture::from(camera), stills: Vec::new() })
    }

    /// Takes a picture behind the first step, in the middle, and in the end.
    pub fn step(&mut self, step: u32, of: u32, over: bool, simulation: &mut Simulation) -> anyhow::Result<()> {
        let due = |s: u32| u64::from(s) * u64::from(STILLS - 1) / u64::from(of);
        if step == 0 || due(step + 1) > due(step) || over {
            self.stills.push(self.renderer.render(simulation, &self.picture)?);
        }
        Ok(())
    }

    pub fn finish(self) -> anyhow::Result<String> {
        let [width, height] = SIZE;
        let count = self.stills.len() as u32;
        let mut rgba = Vec::with_capacity((width * height * count * 4) as usize);
        for y in 0..height {
            for still in &self.stills {
                let row = (y * width * 4) as usize;
                rgba.extend_from_slice(&still.rgba[row..row + (width * 4) as usize]);
            }
        }
        let Some(mut whole) = self.stills.into_iter().next_back() else { return Ok(String::new()) };
        (whole.width, whole.height, whole.rgba) = (width * count, height, rgba);
        let mut png = Vec::new();
        encode(&whole, &mut png)?;
        Ok(base64(&png))
    }
}
