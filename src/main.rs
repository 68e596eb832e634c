//! The `pipeaudit` command: parse, run, exit.

use std::process::ExitCode;

use clap::Parser;
use pipeaudit::{cli::Cli, commands};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(help) = &error.help {
                eprintln!("  help: {help}");
            }
            error.exit.into()
        }
    }
}
