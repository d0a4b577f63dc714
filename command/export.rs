//! `drystone export`: a scene as a file.

use super::run::prepare;
use anyhow::Context;
use clap::Parser;
use drystone::scenes::file;
use std::io::Write;

/// Options of `drystone export`.
#[derive(Parser)]
pub struct Options {
    /// The scene by its name (an unknown one lists them all), or a file that ends with .json.
    #[arg(value_name = "SCENE|FILE.json")]
    scene: String,
    /// Where to write it: a file that ends with .json, or standard output (-).
    #[arg(value_name = "FILE|-", default_value = "-")]
    file: String,
    /// A parameter of the scene (`bodies=10000`) or a setting (`alpha=0.95`). May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let scene = prepare(&options.scene, &options.set)?;
    scene.settings.check()?;
    if options.file == "-" {
        return std::io::stdout().write_all(file::to_text(&scene)?.as_bytes()).context("cannot write the scene");
    }
    super::files::write(options.file.as_ref(), file::to_text(&scene)?.as_bytes())
}
