//! Plots as SVG, by hand: lines, and areas on top of each other, over time.

use std::fmt::Write as _;

/// Colours of series, in their order. The last is what is left.
pub const COLOURS: [&str; 10] =
    ["#3f6fa8", "#d9853b", "#4c9a83", "#c0504a", "#8a6aa8", "#c9a83f", "#6b8e4e", "#c9788f", "#5f8fb5", "#9a9a9a"];

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;

/// Values over time.
pub struct Series {
    pub name: String,
    /// Seconds and value.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    pub fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.to_owned(), points: points.into_iter().filter(|p| p.1.is_finite()).collect() }
    }
}

/// Text that may stand in HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number with three digits that count.
pub fn number(v: f64) -> String {
    let size = v.abs();
    if v == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&size) {
        let text = format!("{v:.2e}");
        text.replace(".00e", "e")
    } else {
        let digits = (2.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{v:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

/// Round values from `low` to `high`, about five.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(power);
    let first = (low / step).ceil() as i64;
    (0..50).map(|i| (first + i) as f64 * step).take_while(|v| *v <= high + step * 1e-6).collect()
}

/// Where things are on the paper.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    /// Around some points, with 0 in it unless they are far from it.
    fn around(points: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)))
        };
        let x = range(&mut points.clone().map(|p| p.0));
        let (mut low, mut high) = range(&mut points.map(|p| p.1));
        if low > high {
            // No points at all.
            (low, high) = (0.0, 1.0);
        }
        if low > 0.0 && low < 0.7 * high {
            low = 0.0;
        }
        if high < 0.0 && high > 0.7 * low {
            high = 0.0;
        }
        let room = if high > low { (high - low) * 0.06 } else { high.abs().max(1.0) * 0.1 };
        let y = (if low == 0.0 { 0.0 } else { low - room }, high + room);
        Self { x: if x.0 < x.1 { x } else { (0.0, 1.0) }, y }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (w, h) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        let across = LEFT + (x - self.x.0) / (self.x.1 - self.x.0) * w;
        (across, TOP + (self.y.1 - y) / (self.y.1 - self.y.0) * h)
    }

    fn axes(&self, svg: &mut String) {
        let (left, right) = (LEFT, WIDTH - RIGHT);
        for v in ticks(self.y.0, self.y.1) {
            let y = self.at((self.x.0, v)).1;
            // Writing to a string cannot fail.
            let _ = write!(svg, r#"<line class="grid" x1="{left}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/>"#);
            let _ = write!(svg, r#"<text x="{:.1}" y="{:.1}" class="y">{}</text>"#, left - 6.0, y + 4.0, number(v));
        }
        for v in ticks(self.x.0, self.x.1) {
            let x = self.at((v, self.y.0)).0;
            let _ = write!(svg, r#"<text x="{x:.1}" y="{:.1}" class="x">{} s</text>"#, HEIGHT - 10.0, number(v));
        }
        let bottom = HEIGHT - BOTTOM;
        let _ = write!(svg, r#"<line class="axis" x1="{left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>"#);
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(text, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
    }
    text
}

/// What can be told apart on the paper: of points in one column of pixels the first, the lowest, the highest and the
/// last.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let ends = [column.iter().min_by(by_height), column.iter().max_by(by_height)].map(Option::<&_>::copied);
        let marked = [column.first().copied(), ends[0], ends[1], column.last().copied()];
        kept.extend(column.iter().filter(|p| marked.contains(&Some(**p))));
    }
    kept
}

fn figure(title: &str, unit: &str, svg: &str, series: &[Series]) -> String {
    let legend: String = series
        .iter()
        .enumerate()
        .map(|(i, s)| {
            let last = s.points.last().map_or(String::new(), |p| format!(" <b>{}</b>", number(p.1)));
            let colour = COLOURS[i % COLOURS.len()];
            format!(r#"<span><i style="background:{colour}"></i>{}{last}</span>"#, escaped(&s.name))
        })
        .collect();
    format!(
        r#"<figure><figcaption>{} <small>{}</small></figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{}">{svg}</svg><p class="legend">{legend}</p></figure>"#,
        escaped(title),
        escaped(unit),
        escaped(title),
    )
}

/// A line a series. The legend has the last values.
pub fn lines(title: &str, unit: &str, series: &[Series]) -> String {
    let frame = Frame::around(series.iter().flat_map(|s| s.points.iter().copied()));
    let mut svg = String::new();
    frame.axes(&mut svg);
    for (s, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let points: Vec<_> = s.points.iter().map(|&p| frame.at(p)).collect();
        let points = thinned(&points);
        let (d, name) = (path(&points), escaped(&s.name));
        let _ = write!(svg, r#"<path d="{d}" class="line" stroke="{colour}"><title>{name}</title></path>"#);
    }
    figure(title, unit, &svg, series)
}

/// Areas on top of each other; every series has the same times.
pub fn stacked(title: &str, unit: &str, series: &[Series]) -> String {
    let count = series.iter().map(|s| s.points.len()).min().unwrap_or(0);
    let mut below = vec![0.0; count];
    let mut layers = Vec::new();
    for s in series {
        let low: Vec<_> = s.points.iter().zip(&below).map(|(p, b)| (p.0, *b)).collect();
        for (b, p) in below.iter_mut().zip(&s.points) {
            *b += p.1;
        }
        let high: Vec<_> = s.points.iter().zip(&below).map(|(p, b)| (p.0, *b)).collect();
        layers.push((low, high));
    }
    // A few steps that took long, while something else used the machine, must not flatten all others.
    let mut sorted = below.clone();
    sorted.sort_by(f64::total_cmp);
    let usual = sorted.get(count * 49 / 50).copied().unwrap_or(1.0) * 1.15;
    let bounded = layers.iter().flat_map(|l| l.1.iter().map(|p| (p.0, p.1.min(usual)))).chain([(0.0, 0.0)]);
    let frame = Frame::around(bounded);
    let mut svg = String::new();
    frame.axes(&mut svg);
    for ((s, colour), (low, high)) in series.iter().zip(COLOURS.iter().cycle()).zip(&layers) {
        let cut = |p: &(f64, f64)| frame.at((p.0, p.1.min(frame.y.1)));
        let outline: Vec<_> = high.iter().map(cut).chain(low.iter().rev().map(cut)).collect();
        let (d, name) = (path(&outline), escaped(&s.name));
        let _ = write!(svg, r#"<path d="{d}Z" fill="{colour}"><title>{name}</title></path>"#);
    }
    figure(title, unit, &svg, series)
}
