//! What becomes of the crates when they are packaged: `tools/package` builds them, these see the same without a build.

use drystone_kernels::STAGES;
use drystone_kernels::manifest::{Manifest, checked_in, crate_root};
use std::path::Path;
use std::process::Command;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn a_manifest_that_cargo_rewrote_does_not_make_the_kernels_out_of_date() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged-kernels");
    let _ = std::fs::remove_dir_all(&root);
    copy(&crate_root().join("src"), &root.join("src"));
    copy(&checked_in(), &root.join("spirv"));
    std::fs::write(root.join("Cargo.toml"), "# As cargo writes it: every key spelled out, in another order.\n")
        .unwrap();
    Manifest::verify(&root.join("spirv"), &root, STAGES).unwrap();
    // Sources are still told apart.
    std::fs::write(root.join("src/lib.rs"), "// another\n").unwrap();
    let error = Manifest::verify(&root.join("spirv"), &root, STAGES).unwrap_err();
    assert!(error.to_string().contains("out of date"), "{error}");
}

/// Cargo on this workspace, without a network.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .args(["--offline", "--locked"])
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn dependencies(arguments: &[&str]) -> Vec<String> {
    let tree = ["tree", "-p", "drystone", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let text = cargo(&[&tree, arguments].concat());
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn users_of_the_library_get_neither_clap_nor_gif_nor_png() {
    let default = dependencies(&[]);
    assert!(default.iter().any(|d| d == "ash") && default.iter().any(|d| d == "gpu-allocator"), "{default:?}");
    let every = dependencies(&["--features", "loader,mesh-files,scene-files"]);
    for unwanted in ["clap", "gif", "png", "indicatif", "anyhow", "criterion", "spirv-builder"] {
        assert!(!every.iter().any(|d| d == unwanted), "{unwanted} in {every:?}");
    }
    assert!(!default.iter().any(|d| d == "libloading"), "the loader is not asked for: {default:?}");
    let least = dependencies(&["--no-default-features"]);
    assert!(!least.iter().any(|d| d == "ash"), "{least:?}");
}

#[test]
fn packages_have_the_modules_and_no_pictures() {
    let list = |package: &str| cargo(&["package", "--list", "--allow-dirty", "-p", package]);
    let kernels = list("drystone-kernels");
    for stage in STAGES {
        assert!(kernels.contains(&format!("spirv/{}.spv", stage.name)), "{}", stage.name);
    }
    assert!(kernels.contains("spirv/manifest.txt"));
    for package in ["drystone", "drystone-kernels", "drystone-cli", "drystone-kernel-builder"] {
        let files = list(package);
        let heavy = |f: &&str| f.starts_with("tests/references") || f.starts_with("docs/") || f.ends_with(".png");
        assert_eq!(files.lines().find(heavy), None, "in the package of {package}");
        assert!(files.contains("Cargo.toml"), "{package}: {files}");
    }
}

#[test]
fn every_dependency_builds_with_the_minimum_rust_version() {
    let about = Command::new("rustc").arg("-vV").output().expect("rustc starts").stdout;
    let about = String::from_utf8(about).unwrap();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let text = cargo(&["metadata", "--format-version", "1", "--filter-platform", host]);
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let version = |text: &str| -> Vec<u32> { text.split('.').map(|part| part.parse().unwrap()).collect() };
    let declared = |name: &str| {
        let package = packages.iter().find(|p| p["name"] == name).unwrap();
        version(package["rust_version"].as_str().unwrap())
    };
    let least = declared("drystone");
    let mut ours = vec!["drystone".to_owned()];
    ours.extend(dependencies(&["--features", "loader,mesh-files,scene-files"]));
    for package in packages.iter().filter(|p| ours.iter().any(|name| p["name"] == name.as_str())) {
        if let Some(needed) = package["rust_version"].as_str() {
            assert!(version(needed) <= least, "{} {} needs Rust {needed}", package["name"], package["version"]);
        }
    }
}

#[test]
fn the_readme_has_the_lines_of_the_smallest_example() {
    let read = |path: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (example, readme) = (read("examples/embed_minimal.rs"), read("README.md"));
    let (_, behind) = example.split_once("    // --- the README's lines\n").expect("where they begin");
    let (lines, _) = behind.split_once("    // --- up to here").expect("where they end");
    let lines: Vec<_> = lines.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    assert!(lines.len() > 20 && readme.contains(&lines.join("\n")), "the README has others:\n{}", lines.join("\n"));
    // Every example is named there or on the page behind it, and run by `tools/test` or what it calls.
    let readme = readme + &read("docs/embedding.md");
    let tests = read("tools/test") + &read("tools/c-library");
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()?.strip_suffix(".rs")) else { continue };
        assert!(readme.contains(&format!("examples/{name}.rs")) || name == "paper_table", "{name} in the README");
        let run = [format!("--example {name}"), format!("validated {name} ")].iter().any(|run| tests.contains(run));
        assert!(run || name == "paper_table", "{name} in tools/test");
    }
}

/// Public structs and enums of the library that cannot get a field or a variant without breaking its users, and why.
const CLOSED: [(&str, &str); 10] = [
    ("Camera", "an eye, what it looks at, and an angle"),
    ("Overlap", "who overlaps whom"),
    ("OverlapHit", "which collider"),
    ("JointAxis", "three ways, three turns and a distance"),
    ("Location", "allocators of hosts have to know every place that they are asked for"),
    ("Step", "of a schedule: a command, or a barrier"),
    ("Bvh", "what a dispatch is told: a new word has to be said by everybody"),
    ("Search", "as above"),
    ("Scan", "as above"),
    ("Sort", "as above"),
];

/// Attributes and comments right above line `at`.
fn above<'a>(lines: &[&'a str], at: usize) -> Vec<&'a str> {
    let belongs = |l: &&&str| l.trim_start().starts_with("#[") || l.trim_start().starts_with("//");
    lines[..at].iter().rev().take_while(belongs).copied().collect()
}

#[test]
fn an_addition_to_a_public_type_breaks_nobody() {
    let text = sources("engine/src");
    let whole: String = text.iter().map(|(_, text)| text.as_str()).collect();
    let (mut found, mut closed) = (0, 0);
    // C's structs begin with their size instead.
    for (path, text) in text.iter().filter(|(path, _)| !path.contains("/ffi/")) {
        let lines: Vec<_> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some((kind, rest)) = line.strip_prefix("pub ").and_then(|l| l.split_once(' ')) else { continue };
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            let opened = line.ends_with('{');
            if !(kind == "struct" && opened || kind == "enum") {
                continue;
            }
            found += 1;
            let fields = lines[at + 1..].iter().take_while(|l| !l.starts_with('}'));
            let private = |l: &&str| {
                let l = l.trim_start();
                l.ends_with(',') && !l.starts_with("pub ") && !l.starts_with('#') && !l.starts_with("//")
            };
            let attributes = above(&lines, at);
            if CLOSED.iter().any(|(known, _)| *known == name) {
                closed += 1;
                continue;
            }
            let grows = attributes.iter().any(|a| a.contains("non_exhaustive"))
                // Literals end with `..Default::default()`.
                || kind == "struct" && attributes.iter().any(|a| a.contains("derive(") && a.contains("Default"))
                || whole.contains(&format!("impl Default for {name} {{"))
                || kind == "struct" && fields.clone().any(private);
            assert!(grows, "{path}: `{name}` needs #[non_exhaustive], Default, or a line in CLOSED");
        }
    }
    assert!(found > 80, "the search found {found} types only");
    assert_eq!(closed, CLOSED.len(), "each of CLOSED is there once");
}

/// Every source file below a folder, with its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push((path.display().to_string(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    files
}
