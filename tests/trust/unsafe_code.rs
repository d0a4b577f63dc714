//! The inventory of unsafe code, `docs/unsafe.md`, has every file that has any, with how much and why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Blocks, functions and traits, implementations.
type Count = [usize; 3];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// How often the word is there, outside of comments: nothing in these files has it in a text.
fn count(text: &str) -> Count {
    let mut count = [0; 3];
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        for (at, _) in line.match_indices("unsafe") {
            let alone = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let behind = line[at + 6..].trim_start();
            let kind = match behind {
                _ if !alone || line[at + 6..].starts_with(|c: char| c.is_alphanumeric() || c == '_') => continue,
                b if b.starts_with("impl") => 2,
                b if b.starts_with("fn") || b.starts_with("extern") || b.starts_with("trait") => 1,
                _ => 0,
            };
            count[kind] += 1;
        }
    }
    count
}

fn found() -> BTreeMap<String, Count> {
    let mut files = Vec::new();
    let tools = ["tools/kernel-builder/src", "tools/c-header/src", "tools/kernel-stats/src"];
    for folder in ["kernels/src", "engine/src", "engine/build.rs", "command"].into_iter().chain(tools) {
        let path = root().join(folder);
        if path.is_dir() { sources(&path, &mut files) } else { files.push(path) }
    }
    let counted = files.into_iter().map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        (name, count(&std::fs::read_to_string(&path).unwrap()))
    });
    counted.filter(|(_, count)| count.iter().sum::<usize>() > 0).collect()
}

/// Rows of the table: file, numbers, reason.
fn rows(text: &str) -> Vec<(String, [String; 3], String)> {
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(|c| c.trim().to_owned()).collect();
        let [file, blocks, functions, impls, why] = cells.try_into().ok()?;
        Some((file.strip_prefix('`')?.strip_suffix('`')?.to_owned(), [blocks, functions, impls], why))
    };
    text.lines().filter(|l| l.starts_with("| `")).filter_map(row).collect()
}

#[test]
fn all_unsafe_code_is_in_the_inventory_with_its_reason() {
    let path = root().join("docs/unsafe.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let told = rows(&text);
    let found = found();
    if std::env::var_os("DRYSTONE_GOLDEN").is_some_and(|v| v == "renew") {
        let why = |file: &str| told.iter().find(|r| r.0 == file).map_or("WHY?", |r| &r.2);
        let table = found.iter().map(|(f, [b, u, i])| format!("| `{f}` | {b} | {u} | {i} | {} |\n", why(f)));
        let head: String = text.lines().take_while(|l| !l.starts_with("| `")).map(|l| format!("{l}\n")).collect();
        let tail: String = text
            .lines()
            .skip_while(|l| !l.starts_with("| `"))
            .skip_while(|l| l.starts_with("| `"))
            .map(|l| format!("{l}\n"))
            .collect();
        std::fs::write(path, head + &table.collect::<String>() + &tail).unwrap();
        return;
    }
    let expected: Vec<_> = found.iter().map(|(f, c)| (f.clone(), c.map(|n| n.to_string()))).collect();
    let is: Vec<_> = told.iter().map(|(f, c, _)| (f.clone(), c.clone())).collect();
    assert!(
        is == expected,
        "docs/unsafe.md is not what the sources have: run tools/golden, then say why.\n{expected:#?}"
    );
    for (file, _, why) in told {
        assert!(why.len() > 10 && !why.contains("WHY?"), "docs/unsafe.md: {file} has no reason");
    }
}
