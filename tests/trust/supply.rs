//! Where dependencies come from and what they are licensed under, as `deny.toml` has it: seen without a network, and
//! without `cargo deny`, which knows of more.

use serde_json::Value;
use std::process::Command;

/// The words of a list in `deny.toml`.
fn list(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/deny.toml")).unwrap();
    let start = format!("{name} = [");
    let line = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
    line.trim_end_matches(']').split(',').map(|word| word.trim().trim_matches('"').to_owned()).collect()
}

/// Whether a licence expression can be met with what is allowed.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let text = expression.replace('/', " OR ");
    let all = text.split(" AND ");
    let clean = |word: &str| word.trim().trim_matches(['(', ')']).to_owned();
    all.into_iter().all(|part| part.split(" OR ").any(|word| allowed.contains(&clean(word))))
}

#[test]
fn dependencies_are_from_the_registry_and_under_licences_that_are_allowed() {
    // Only what this platform needs has been downloaded.
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc starts");
    let told = String::from_utf8(rustc.stdout).unwrap();
    let platform = told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", platform])
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (allowed, registries) = (list("allow"), list("allow-registry"));
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50);
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_met(licence, &allowed), "{name}: `{licence}` is not among {allowed:?}");
        if let Some(source) = package["source"].as_str() {
            assert!(registries.iter().any(|r| source == format!("registry+{r}")), "{name} is from {source}");
        }
    }
    assert!(!is_met("GPL-3.0", &allowed) && !is_met("MIT AND GPL-3.0", &allowed), "and others would be seen");
}
