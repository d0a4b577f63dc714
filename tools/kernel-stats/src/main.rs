//! Prints what the compiler of real GPUs makes of the kernels, or checks that against `docs/gpu_stats.md`.
//! `tools/gpu-stats` calls it and says how.

mod compile;
mod table;

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use table::Table;

/// GPUs whose compiler is asked: GCN 5, RDNA 1, RDNA 2. Mesa 22.3 also knows gfx1100, but what it says of its spills is
/// not believed.
const FAMILIES: [&str; 3] = ["vega10", "navi10", "navi21"];
/// Exit status when there is no compiler to ask.
const NO_COMPILER: u8 = 3;
/// Where the tables begin in the page.
const MARK: &str = "<!-- tools/gpu-stats --write makes what follows -->\n";
/// Last line of a process that compiled everything.
const DONE: &str = "done";

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let modules = root.join("kernels/spirv");
    match arguments[..] {
        ["--family", family] => {
            for table in compile::compile(family, &modules)? {
                println!("{}", table.text());
            }
            println!("{DONE}");
            Ok(ExitCode::SUCCESS)
        }
        [] => run(|tables| {
            tables.iter().for_each(|table| println!("{}", table.text()));
            Ok(())
        }),
        ["--write"] => run(|tables| write(&root.join("docs/gpu_stats.md"), &tables)),
        ["--check"] => run(|tables| check(&root.join("docs/gpu_stats.md"), &tables)),
        _ => bail!("usage: tools/gpu-stats [--write | --check]"),
    }
}

/// Where Mesa says which library RADV is.
fn radv() -> Option<PathBuf> {
    let folders = ["/usr/share", "/usr/local/share", "/etc"];
    let names = [format!("radeon_icd.{}.json", std::env::consts::ARCH), "radeon_icd.json".to_owned()];
    let files = folders.iter().flat_map(|f| names.iter().map(move |n| Path::new(f).join("vulkan/icd.d").join(n)));
    files.into_iter().find(|file| file.exists())
}

/// Hands the tables of all families to `then`.
fn run(then: impl FnOnce(Vec<Table>) -> Result<()>) -> Result<ExitCode> {
    let Some(driver) = radv() else {
        eprintln!("no RADV here: the Debian package mesa-vulkan-drivers has it");
        return Ok(ExitCode::from(NO_COMPILER));
    };
    let mut tables = Vec::new();
    for family in FAMILIES {
        let output = Command::new(std::env::current_exe()?)
            .args(["--family", family])
            .env("RADV_FORCE_FAMILY", family)
            .env("VK_ICD_FILENAMES", &driver)
            .env_remove("VK_DRIVER_FILES")
            .env_remove("VK_INSTANCE_LAYERS")
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        // How the process ended says nothing: the driver may crash when it is unloaded.
        if text.lines().last() != Some(DONE) {
            bail!("{family}: {}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        tables.extend(Table::parse(&text));
    }
    ensure!(tables.len() >= FAMILIES.len(), "only {} tables", tables.len());
    then(tables)?;
    Ok(ExitCode::SUCCESS)
}

fn write(page: &Path, tables: &[Table]) -> Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| format!("{}", page.display()))?;
    let (words, _) = text.split_once(MARK).with_context(|| format!("{} has no line {MARK}", page.display()))?;
    let tables: Vec<String> = tables.iter().map(Table::text).collect();
    std::fs::write(page, format!("{words}{MARK}\n{}", tables.join("\n")))?;
    Ok(())
}

fn check(page: &Path, tables: &[Table]) -> Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| format!("{}", page.display()))?;
    let before = Table::parse(&text);
    let mut worse = Vec::new();
    for table in tables {
        let same = |b: &&Table| b.family == table.family && b.wave == table.wave;
        let was = before.iter().find(same);
        let was = was.with_context(|| format!("{} has no table of {}", page.display(), table.family))?;
        if was.driver != table.driver {
            eprintln!("compared with {}, this is {}", was.driver, table.driver);
        }
        worse.extend(table.worse_than(was));
    }
    if !worse.is_empty() {
        let what = "kernels are worse on a GPU than docs/gpu_stats.md says; mend them, or say why and run";
        bail!("{what} tools/gpu-stats --write:\n{}", worse.join("\n"));
    }
    let stale = tables != before;
    println!("no kernel has fewer waves, spills or scratch memory than in docs/gpu_stats.md");
    if stale {
        println!("other numbers have changed: tools/gpu-stats --write brings the page up to date");
    }
    Ok(())
}
