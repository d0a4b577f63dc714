//! Every file that declares a stage is in the list of stages, and a stage has one name everywhere.

use drystone_kernels::STAGES;
use drystone_kernels::manifest::{Manifest, checked_in, crate_root};
use std::path::{Path, PathBuf};

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Names that a source declares stages with: the string behind every `stage! {`, or that of a family of stages
/// (`primal_stage! {`), at the start of a line.
fn declared(text: &str) -> Vec<String> {
    let lines = text.split('\n');
    let begins =
        |line: &str| line.strip_suffix("stage! {").is_some_and(|family| family.is_empty() || family.ends_with('_'));
    let at_start = |line: &str| line.starts_with(|c: char| c.is_ascii_lowercase());
    let mut names = Vec::new();
    let mut behind = lines.clone();
    for line in lines {
        behind.next();
        if at_start(line) && begins(line) {
            let name = behind.clone().next().and_then(|next| next.split('"').nth(1));
            names.push(name.expect("a stage begins with its name").to_owned());
        }
    }
    names
}

#[test]
fn every_file_that_declares_a_stage_is_in_the_list_under_its_own_name() {
    let mut files = Vec::new();
    sources(&crate_root().join("src"), &mut files);
    let mut found = Vec::new();
    for file in files {
        let names = declared(&std::fs::read_to_string(&file).unwrap());
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(names.len() < 2, "{} declares {names:?}: one stage a file", file.display());
        for name in names {
            assert_eq!(name, stem, "{} declares a stage of another name", file.display());
            found.push(name);
        }
    }
    let mut listed: Vec<_> = STAGES.iter().map(|s| s.name.to_owned()).collect();
    found.sort();
    listed.sort();
    assert!(found.len() > 40, "stages are found in the sources: {found:?}");
    assert_eq!(found, listed, "files with stages, and `STAGES`");
}

#[test]
fn every_stage_is_the_one_entry_point_of_its_module() {
    let manifest = Manifest::verify(&checked_in(), crate_root(), STAGES).unwrap();
    assert_eq!(manifest.modules.len(), STAGES.len(), "no module is left over");
    for stage in STAGES {
        let bytes = std::fs::read(checked_in().join(format!("{}.spv", stage.name))).unwrap();
        let words: Vec<u32> = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
        assert_eq!(entry_points(&words), [stage.name], "entry points of {}.spv", stage.name);
    }
}

/// Names of the entry points of a SPIR-V module.
fn entry_points(words: &[u32]) -> Vec<String> {
    const HEADER: usize = 5;
    const OP_ENTRY_POINT: u32 = 15;
    let mut names = Vec::new();
    let mut at = HEADER;
    while at < words.len() {
        let (length, op) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        if op == OP_ENTRY_POINT {
            // Behind the instruction's head come the execution model and the function.
            let bytes = words[at + 3..at + length].iter().flat_map(|w| w.to_le_bytes());
            names.push(String::from_utf8(bytes.take_while(|b| *b != 0).collect()).unwrap());
        }
        at += length.max(1);
    }
    names
}
