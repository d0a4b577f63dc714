//! Nothing that a file says is read or written outside of what the user named: scene files name no other files, what
//! they call things is never a path, and what lies beside an output is not followed.

use crate::{drystone, folder, run, said};
use std::path::{Path, PathBuf};

/// Every file below a folder, links as they are.
fn all(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() { all(&path, found) } else { found.push(path) }
    }
    found.sort();
}

/// Names that would lead elsewhere if they were paths, or do something if they were markup.
const HOSTILE: [&str; 7] = [
    "../escaped",
    "../../escaped.png",
    "/tmp/drystone-escaped",
    "..\\\\escaped",
    "secret.json",
    "nul\\u0000byte",
    "<script src=//escaped></script>",
];

#[test]
fn what_a_file_calls_things_is_never_a_path() {
    let outer = folder("outside");
    let inner = outer.join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(outer.join("secret.json"), "{}").unwrap();
    for name in HOSTILE {
        let text = format!(
            r#"{{"name": "{name}", "seconds": 1, "bodies": [
                {{"name": "{name}", "position": [0, 1, 0], "colliders": [{{"shape": "sphere", "radius": 0.5}}]}},
                {{"name": "b", "position": [0, 3, 0], "colliders": [{{"shape": "sphere", "radius": 0.5}}]}}],
              "joints": [{{"name": "{name}", "type": "ball", "a": "{name}", "b": "b", "point": [0, 2, 0]}}],
              "later": [{{"at": 0.01, "break": "{name}"}}]}}"#
        );
        std::fs::write(inner.join("scene.json"), text).unwrap();
        let outputs = ["--json", "out.json", "--report", "out.html", "--trace", "trace.json", "--png", "out.png"];
        let size = ["--size", "32x18", "--samples", "1", "--every", "1"];
        let start = ["run", "scene.json", "--backend", "cpu", "--steps", "3"];
        let output = run(&inner, &[&start[..], &outputs, &size].concat());
        assert!(output.status.success(), "{name}: {}", said(&output));
        let mut found = Vec::new();
        all(&outer, &mut found);
        let mut named = ["out.html", "out.json", "out.png", "scene.json", "trace.json"].map(|n| inner.join(n)).to_vec();
        named.push(outer.join("secret.json"));
        assert_eq!(found, named, "{name}");
        assert_eq!(std::fs::read_to_string(outer.join("secret.json")).unwrap(), "{}");
        assert!(!Path::new("/tmp/drystone-escaped").exists());
        let page = std::fs::read_to_string(inner.join("out.html")).unwrap();
        assert!(!page.contains("<script src"), "{name}: markup of a file is markup of the report");
    }
}

#[test]
fn a_scene_file_that_names_another_is_refused() {
    let outer = folder("naming");
    std::fs::write(outer.join("other.json"), r#"{"bodies": []}"#).unwrap();
    for (text, key) in [
        (r#"{"include": "other.json", "bodies": []}"#, "include"),
        (r#"{"$ref": "file:///etc/passwd", "bodies": []}"#, "$ref"),
        (r#"{"bodies": [{"file": "../other.json"}]}"#, "file"),
        (r#"{"bodies": [{"colliders": [{"shape": "sphere", "radius": 1, "mesh": "/etc/passwd"}]}]}"#, "mesh"),
        (r#"{"bodies": [{"colliders": [{"shape": "hull", "points": "/etc/passwd"}]}]}"#, "points"),
        (r#"{"bodies": [{"colliders": [{"shape": "/etc/passwd"}]}]}"#, "shape"),
    ] {
        std::fs::write(outer.join("scene.json"), text).unwrap();
        let output = run(&outer, &["run", "scene.json", "--backend", "cpu", "--steps", "1"]);
        let words = said(&output);
        assert!(!output.status.success() && words.contains(key), "{text}: {words}");
        assert!(!words.contains("root:"), "{words}");
    }
}

#[test]
#[cfg(unix)]
fn a_link_beside_an_output_is_not_followed() {
    let outer = folder("links");
    std::fs::write(outer.join("victim"), "mine").unwrap();
    // The process that is started has the number of the shell: so the link has the name that the command will choose.
    let program = drystone(&outer, &[]);
    let script = r#"ln -s victim ".out.json.$$.part"; exec "$0" run stack --backend cpu --steps 1 --json out.json"#;
    let mut shell = std::process::Command::new("sh");
    let output = shell.current_dir(&outer).args(["-c", script]).arg(program.get_program()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(outer.join("victim")).unwrap(), "mine");
    assert!(!outer.join("out.json").is_symlink() && outer.join("out.json").metadata().unwrap().len() > 100);
}

/// Where the sources reach files at all: what the user named on the command line, and nothing else.
#[test]
fn files_are_opened_in_places_that_are_known() {
    const KNOWN: [(&str, &str); 8] = [
        ("engine/src/scenes/file.rs", "the scene file that the user named"),
        ("engine/src/scenes/export.rs", "the file that the caller writes a scene to"),
        ("kernels/src/manifest.rs", "the kernels of this tree, for their builder"),
        ("engine/src/meshes/mod.rs", "the mesh that the user named, and the other half where TetGen has two"),
        ("command/files.rs", "outputs that the user named"),
        ("command/pictures.rs", "the folder for frames that the user named"),
        ("command/paper/store.rs", "the JSON file that the user named, from which an interrupted run goes on"),
        ("engine/src/vulkan/own.rs", "the Vulkan loader"),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for folder in ["engine/src", "kernels/src", "command"] {
        all(&root.join(folder), &mut sources);
    }
    let mut seen = Vec::new();
    for path in sources.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
        let reaches = ["std::fs", "File::", "OpenOptions", "Command::new", "TcpStream", "Entry::load"];
        let reaches = text[..tests]
            .lines()
            .any(|line| !line.trim_start().starts_with("//") && reaches.iter().any(|word| line.contains(word)));
        if reaches {
            seen.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        }
    }
    for path in &seen {
        assert!(KNOWN.iter().any(|k| k.0 == path), "{path} reaches files or processes; if that is meant, say why here");
    }
    assert!(KNOWN.iter().all(|k| seen.iter().any(|s| s == k.0)), "no longer needed: {seen:?}");
}
