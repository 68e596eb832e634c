//! The `pipeaudit` command: parse, run, exit.

use std::process::ExitCode;

use clap::Parser;
use pipeaudit::cli::Cli;
use pipeaudit::commands;
use pipeaudit::report::text;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("error: {}", text::clean(&error.message));
            if let Some(help) = &error.help {
                eprintln!("  help: {}", text::clean(help));
            }
            error.exit.into()
        }
    }
}
