//! Films: GIF and animated PNG. What did not change since the frame before is left transparent, which is most of it,
//! since the scatter of light is the same in every frame.

use super::files::Output;
use anyhow::{Context, bail};
use drystone::render::Image;
use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

/// A film that is being written.
pub enum Film {
    Gif(Gif),
    Apng(Box<Apng>),
}

impl Film {
    /// Frames that follow each other after `delay` seconds.
    pub fn new(path: &Path, size: [u32; 2], frames: u32, delay: f32) -> anyhow::Result<Self> {
        let kind = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        if !matches!(kind.as_str(), "gif" | "apng" | "png") {
            bail!("--video {}: a film's name ends with .gif, .apng or .png", path.display());
        }
        let file = Output::create(path)?;
        Ok(match kind.as_str() {
            "gif" => Self::Gif(Gif::new(file, size, delay)?),
            _ => Self::Apng(Box::new(Apng::new(file, size, frames, delay)?)),
        })
    }

    pub fn add(&mut self, image: &Image) -> anyhow::Result<()> {
        match self {
            Self::Gif(gif) => {
                gif.add(image);
                Ok(())
            }
            Self::Apng(apng) => apng.add(image),
        }
    }

    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Gif(gif) => gif.finish(),
            Self::Apng(apng) => apng.finish(),
        }
    }
}

/// An animated PNG, written as it comes.
pub struct Apng {
    writer: png::Writer<Lent>,
    file: Lent,
    last: Vec<u8>,
}

/// A file that is lent to an encoder which does not give it back.
#[derive(Clone)]
struct Lent(Rc<RefCell<Option<Output>>>);

impl Write for Lent {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Apng {
    fn new(file: Output, [width, height]: [u32; 2], frames: u32, delay: f32) -> anyhow::Result<Self> {
        let file = Lent(Rc::new(RefCell::new(Some(file))));
        let mut encoder = png::Encoder::new(file.clone(), width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_compression(png::Compression::High);
        encoder.set_animated(frames, 0)?;
        encoder.set_frame_delay((delay * 1000.0).clamp(1.0, 60_000.0) as u16, 1000)?;
        Ok(Self { writer: encoder.write_header()?, file, last: Vec::new() })
    }

    fn add(&mut self, image: &Image) -> anyhow::Result<()> {
        let mut rgba = image.rgba.clone();
        if !self.last.is_empty() {
            self.writer.set_blend_op(png::BlendOp::Over)?;
            for (new, old) in rgba.chunks_exact_mut(4).zip(self.last.chunks_exact(4)) {
                if new == old {
                    new.fill(0);
                }
            }
        }
        self.writer.write_image_data(&rgba).context("cannot write a frame")?;
        self.last = image.rgba.clone();
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        self.writer.finish().context("cannot finish the film")?;
        let file = self.file.0.borrow_mut().take();
        file.map_or(Ok(()), Output::finish)
    }
}

/// Colours of a GIF before a palette is chosen: five bits a channel.
const CELLS: usize = 1 << 15;
/// Colours of the palette; one more entry is the transparent one.
const COLOURS: usize = 255;

/// A GIF. Its palette is chosen when all frames are there; until then only what changes is kept.
pub struct Gif {
    file: Output,
    size: [u16; 2],
    hundredths: u16,
    last: Vec<u16>,
    counts: Vec<u32>,
    frames: Vec<Vec<(u32, u16)>>,
}

impl Gif {
    fn new(file: Output, size: [u32; 2], delay: f32) -> anyhow::Result<Self> {
        let [Ok(width), Ok(height)] = size.map(u16::try_from) else { bail!("a GIF has at most 65535 pixels a side") };
        Ok(Self {
            file,
            size: [width, height],
            hundredths: (delay * 100.0).round().clamp(2.0, 6000.0) as u16,
            last: vec![u16::MAX; usize::from(width) * usize::from(height)],
            counts: vec![0; CELLS],
            frames: Vec::new(),
        })
    }

    fn add(&mut self, image: &Image) {
        // A fixed pattern that hides the steps between colours, and stays where it is from frame to frame.
        const PATTERN: [i32; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
        let width = usize::from(self.size[0]);
        let mut changes = Vec::new();
        for (i, pixel) in image.rgba.chunks_exact(4).enumerate() {
            let shift = (PATTERN[i / width % 4 * 4 + i % width % 4] - 8) / 2;
            let bits = |v: u8| (i32::from(v) + shift).clamp(0, 255) as u16 >> 3;
            let cell = bits(pixel[0]) << 10 | bits(pixel[1]) << 5 | bits(pixel[2]);
            if self.last[i] != cell {
                self.last[i] = cell;
                self.counts[usize::from(cell)] += 1;
                changes.push((i as u32, cell));
            }
        }
        self.frames.push(changes);
    }

    fn finish(self) -> anyhow::Result<()> {
        let (palette, nearest) = choose(&self.counts);
        let [width, height] = self.size;
        let mut encoder = gif::Encoder::new(self.file, width, height, &palette)?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        let nothing = COLOURS as u8;
        for changes in &self.frames {
            let mut indices = vec![nothing; usize::from(width) * usize::from(height)];
            for &(i, cell) in changes {
                indices[i as usize] = nearest[usize::from(cell)];
            }
            let frame = gif::Frame {
                width,
                height,
                delay: self.hundredths,
                dispose: gif::DisposalMethod::Keep,
                transparent: Some(nothing),
                buffer: indices.into(),
                ..gif::Frame::default()
            };
            encoder.write_frame(&frame).context("cannot write a frame")?;
        }
        encoder.into_inner().context("cannot finish the film")?.finish()
    }
}

fn channels(cell: usize) -> [usize; 3] {
    [cell >> 10 & 31, cell >> 5 & 31, cell & 31]
}

/// A palette for cells that occur so often, and the entry for every cell: median cut (Heckbert 1982).
fn choose(counts: &[u32]) -> (Vec<u8>, Vec<u8>) {
    // The root keeps the sky from taking all entries.
    let weight = |cell: usize| f64::from(counts[cell]).sqrt();
    let mut boxes = vec![(0..CELLS).filter(|&c| counts[c] > 0).collect::<Vec<_>>()];
    let longest = |cells: &[usize]| {
        let side = |k: usize| {
            let values = || cells.iter().map(|&c| channels(c)[k]);
            values().max().unwrap_or(0) - values().min().unwrap_or(0)
        };
        (0..3).map(|k| (side(k), k)).max().unwrap_or((0, 0))
    };
    while boxes.len() < COLOURS {
        let cost = |cells: &Vec<usize>| longest(cells).0 as f64 * cells.iter().map(|&c| weight(c)).sum::<f64>();
        let split = (0..boxes.len()).max_by(|&a, &b| cost(&boxes[a]).total_cmp(&cost(&boxes[b])));
        let Some(index) = split.filter(|&i| longest(&boxes[i]).0 > 0) else { break };
        let mut cells = boxes.swap_remove(index);
        let axis = longest(&cells).1;
        cells.sort_by_key(|&c| channels(c)[axis]);
        let half = cells.iter().map(|&c| weight(c)).sum::<f64>() * 0.5;
        let mut sum = 0.0;
        let mut at = cells.iter().take_while(|&&c| {
            sum += weight(c);
            sum < half
        });
        let at = at.by_ref().count().clamp(1, cells.len() - 1);
        let upper = cells.split_off(at);
        boxes.extend([cells, upper]);
    }
    let mut palette = vec![0; 3 * (COLOURS + 1)];
    let mut nearest = vec![0; CELLS];
    for (entry, cells) in boxes.iter().enumerate() {
        let total = cells.iter().map(|&c| weight(c)).sum::<f64>().max(1e-9);
        for (k, value) in palette[entry * 3..entry * 3 + 3].iter_mut().enumerate() {
            let mean = cells.iter().map(|&c| weight(c) * channels(c)[k] as f64).sum::<f64>() / total;
            *value = (mean / 31.0 * 255.0).round() as u8;
        }
        for &cell in cells {
            nearest[cell] = entry as u8;
        }
    }
    (palette, nearest)
}
