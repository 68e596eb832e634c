//! `pipeaudit simulate`: one run of the built-in pipeline, kept.

use crate::commands::console::Bar;
use crate::error::Result;
use crate::exit::Exit;
use crate::settings;
use crate::trace::write;

/// Runs it and keeps its records.
///
/// # Errors
/// Where the folder cannot be written or an image cannot be read.
pub fn run(settings: &settings::Simulate) -> Result<Exit> {
    let folder = write::Folder::create(&settings.folder)?;
    let dataset = settings.images.load()?;
    let mut bar = Bar::new(settings.simulation.samples(&dataset));
    let simulated = settings.simulation.run("simulate", &dataset, &mut bar)?;
    drop(bar);
    folder.write(&simulated.run)?;
    Ok(Exit::Clean)
}
