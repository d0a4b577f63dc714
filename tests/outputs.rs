//! The files `drystone run` writes: pictures, films, the page, the trace.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Runs a small heap in `folder`. Returns what was said on standard error.
fn run(folder: &Path, arguments: &[&str], succeeds: bool) -> String {
    run_scene(&["drop", "--set", "bodies=12"], folder, arguments, succeeds)
}

fn run_scene(scene: &[&str], folder: &Path, arguments: &[&str], succeeds: bool) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_drystone"))
        .arg("run")
        .args(scene)
        .args(["--backend", "cpu", "--size", "64x36", "--samples", "2"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), succeeds, "{arguments:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// Every frame of a PNG, put together.
fn png_frames(path: &Path) -> Vec<Vec<[u8; 3]>> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (64, 36));
    let count = reader.info().animation_control().map_or(1, |a| a.num_frames);
    let mut canvas = vec![[0; 3]; 64 * 36];
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    (0..count)
        .map(|_| {
            let info = reader.next_frame(&mut pixels).unwrap();
            let channels = info.color_type.samples();
            for (place, pixel) in canvas.iter_mut().zip(pixels.chunks_exact(channels)) {
                if channels == 3 || pixel[3] == 255 {
                    place.copy_from_slice(&pixel[..3]);
                }
            }
            canvas.clone()
        })
        .collect()
}

fn gif_frames(path: &Path) -> (Vec<Vec<[u8; 3]>>, u16) {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(std::fs::File::open(path).unwrap()).unwrap();
    assert_eq!((decoder.width(), decoder.height()), (64, 36));
    let mut canvas = vec![[0; 3]; 64 * 36];
    let (mut frames, mut delay) = (Vec::new(), 0);
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        delay = frame.delay;
        for (place, pixel) in canvas.iter_mut().zip(frame.buffer.chunks_exact(4)) {
            if pixel[3] == 255 {
                place.copy_from_slice(&pixel[..3]);
            }
        }
        frames.push(canvas.clone());
    }
    (frames, delay)
}

fn mean_difference(a: &[[u8; 3]], b: &[[u8; 3]]) -> f64 {
    let all = a.as_flattened().iter().zip(b.as_flattened());
    all.map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / (a.len() * 3) as f64
}

#[test]
fn films_show_the_frames_that_files_show() {
    let folder = folder("films");
    let run = |more: &[&str]| run(&folder, &[&["--steps", "30", "--every", "5"], more].concat(), true);
    run(&["--frames", "frames", "--video", "film.gif", "--png", "last.png"]);
    run(&["--video", "film.apng"]);
    let files: Vec<_> = (0..7).map(|i| png_frames(&folder.join(format!("frames/{i:05}.png"))).remove(0)).collect();
    assert!(!folder.join("frames/00007.png").exists());
    assert_eq!(png_frames(&folder.join("last.png"))[0], files[6]);
    assert!(mean_difference(&files[0], &files[6]) > 3.0, "things fall");
    assert_eq!(png_frames(&folder.join("film.apng")), files, "all colours");
    let (frames, delay) = gif_frames(&folder.join("film.gif"));
    assert_eq!(delay, 8, "5/60 s in hundredths");
    assert_eq!(frames.len(), files.len());
    for (i, (frame, file)) in frames.iter().zip(&files).enumerate() {
        let difference = mean_difference(frame, file);
        assert!(difference < 6.0, "frame {i}: {difference} a channel, with 255 colours for all frames");
    }
}

#[test]
fn the_trace_has_every_pass_of_every_step_in_chromes_format() {
    let folder = folder("trace");
    run(&folder, &["--steps", "4", "--trace", "trace.json", "--set", "substeps=2"], true);
    let trace: Value = serde_json::from_slice(&std::fs::read(folder.join("trace.json")).unwrap()).unwrap();
    assert_eq!(trace["displayTimeUnit"], "ms");
    let events = trace["traceEvents"].as_array().unwrap();
    let mut names = Vec::new();
    for e in events {
        assert!(e["name"].is_string() && e["pid"].is_u64() && e["tid"].is_u64(), "{e}");
        match e["ph"].as_str().unwrap() {
            "X" => {
                assert!(e["ts"].as_f64().unwrap() >= 0.0 && e["dur"].as_f64().unwrap() >= 0.0, "{e}");
                assert!(e["cat"].is_string() && e["args"].is_object(), "{e}");
            }
            "C" => assert!(e["ts"].is_f64() && e["args"]["pairs"].is_u64(), "{e}"),
            "M" => names.push(e["args"]["name"].as_str().unwrap()),
            other => panic!("an event of kind {other}"),
        }
    }
    assert_eq!(names, ["drystone run drop", "steps", "passes"]);
    let of = |category: &str| events.iter().filter(|e| e["cat"] == category).collect::<Vec<_>>();
    let (steps, passes) = (of("step"), of("pass"));
    assert_eq!(steps.len(), 4);
    let range = |e: &Value| (e["ts"].as_f64().unwrap(), e["ts"].as_f64().unwrap() + e["dur"].as_f64().unwrap());
    for (i, step) in steps.iter().enumerate() {
        let inside: Vec<_> = passes.iter().filter(|p| p["args"]["step"] == i).collect();
        assert_eq!(inside.iter().filter(|p| p["name"] == "gate").count(), 2, "once a sub-step");
        assert!(inside.iter().any(|p| p["name"] == "primal"));
        let (start, end) = range(step);
        assert!(i == 0 || range(steps[i - 1]).1 <= start, "steps follow each other");
        for pass in inside {
            let (a, b) = range(pass);
            assert!(start <= a && b <= end + 1e-3, "{pass} in {step}");
        }
    }
}

#[test]
fn the_page_stands_alone() {
    let folder = folder("page");
    run(&folder, &["--steps", "20", "--report", "page.html", "--colour", "speed"], true);
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    for word in ["Time by pass", "Energy", "Momentum", "Penetration", "Counts", "iterations", "subgroup size", "primal"]
    {
        assert!(page.contains(word), "`{word}` in the page");
    }
    assert_eq!(page.matches("data:image/png;base64,").count(), 6, "pictures");
    assert_eq!(page.matches("<svg").count(), 7, "plots");
    // What is left without the pictures' letters.
    let text: String = page.split("base64,").map(|part| part.split_once('"').map_or(part, |p| p.1)).collect();
    for outside in ["http:", "https:", "<script", "<link rel=\"stylesheet\"", "url(", "NaN", "inf\""] {
        assert!(!text.contains(outside), "`{outside}` in the page");
    }
    for tag in ["figure", "figcaption", "svg", "table", "caption", "div", "tr", "td", "span", "text", "title"] {
        let opened = text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "<{tag}> is closed as often as opened");
    }
    // The pictures are pictures.
    let first = page.split("base64,").nth(1).unwrap().split('"').next().unwrap();
    assert!(first.starts_with("iVBORw0KGgo") && first.len().is_multiple_of(4));
}

#[test]
fn the_page_of_a_jointed_scene_shows_how_far_its_joints_are_off() {
    let folder = folder("jointed page");
    run_scene(&["pendulum"], &folder, &["--steps", "5", "--report", "page.html"], true);
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("Worst error of a joint") && page.contains("Force of joints"));
    assert_eq!(page.matches("<svg").count(), 11, "four plots more than without joints");
    assert!(!page.contains("<h2>Followed"));
}

#[test]
fn the_page_shows_what_is_followed() {
    let folder = folder("followed page");
    let follow = ["--trace-body", "ball", "--trace-joint", "joint 2", "--trace-csv", "trace.csv"];
    // More steps than the plot has columns.
    let run = ["--steps", "4000", "--set", "links=2", "--set", "ratio=1", "--report", "page.html"];
    run_scene(&["pendulum"], &folder, &[&run[..], &follow].concat(), true);
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    let (_, followed) = page.split_once("<h2>Followed</h2>").expect("a part of its own");
    let figures = [
        ("ball: position", 3),
        ("ball: velocity", 3),
        ("ball: angular velocity", 3),
        ("joint 2: force", 3),
        ("joint 2: torque", 3),
        ("joint 2: error along lengths", 1),
        ("joint 2: error about angles", 1),
    ];
    for (title, lines) in figures {
        let figure = followed.split("<figure>").find(|f| f.contains(&format!("<figcaption>{title} <small>")));
        let figure = figure.unwrap_or_else(|| panic!("no figure `{title}`"));
        assert_eq!(figure.matches("<path").count(), lines, "{title}");
    }
    assert_eq!(followed.matches("<svg").count(), figures.len());
    // All of the swing is in the plot of its position, though not every step: its lowest and highest place.
    let csv = std::fs::read_to_string(folder.join("trace.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4002, "a header, the start, and every step");
    let path = followed.split(" d=\"").nth(2).unwrap();
    let points: Vec<f64> = path
        .split('"')
        .next()
        .unwrap()
        .split(['M', 'L'])
        .skip(1)
        .map(|p| p.split(' ').nth(1).unwrap().parse().unwrap())
        .collect();
    let heights: Vec<f64> = csv.lines().skip(1).map(|l| l.split(',').nth(3).unwrap().parse().unwrap()).collect();
    assert!(points.len() < 2400, "{} points", points.len());
    let range = |v: &[f64]| v.iter().copied().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let ((low, high), (down, up)) = (range(&heights), range(&points));
    // Down is up on paper. The first place is on the same scale as both.
    let expected = (heights[0] - low) / (high - low);
    let drawn = (up - points[0]) / (up - down);
    assert!((expected - drawn).abs() < 0.01, "{expected} of the swing, drawn at {drawn}");
}

#[test]
fn mistakes_about_pictures_are_named_before_the_run() {
    let folder = folder("mistakes");
    for (arguments, words) in [
        (&["--video", "film.mp4"][..], &["film.mp4", ".gif"][..]),
        (&["--png", "nowhere/x.png"], &["nowhere/x.png"]),
        (&["--report", "nowhere/x.html"], &["nowhere/x.html"]),
        (&["--trace", "nowhere/x.json"], &["nowhere/x.json"]),
        (&["--trace-body", "#1", "--trace-csv", "nowhere/x.csv"], &["nowhere/x.csv"]),
        (&["--trace-body", "flor"], &["no body is called `flor`", "`floor`"]),
        (&["--png", "x.png", "--camera", "1,2"], &["three numbers"]),
        (&["--png", "x.png", "--camera", "1,2,x"], &["not a number"]),
        (&["--png", "x.png", "--camera", "1,2,3", "--look", "1,2,3"], &["eye is at its target"]),
        (&["--png", "x.png", "--fov", "0"], &["field of view"]),
        (&["--png", "x.png", "--every", "0"], &["--every"]),
        (&["--png", "x.png", "--ao", "1000"], &["occlusion"]),
    ] {
        let said = run(&folder, &[&["--steps", "100000"], arguments].concat(), false);
        for word in words {
            assert!(said.contains(word), "`{word}` in what {arguments:?} says: {said}");
        }
    }
}
