//! How a report is shown.

use std::io::IsTerminal;
use std::path::PathBuf;

use crate::cli;
use crate::report::table;

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// How a report is shown.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its format.
    pub format: ReportFormat,
    /// The file to write to; standard output where there is none.
    pub file: Option<PathBuf>,
    /// Whether nothing is printed.
    pub quiet: bool,
    /// Whether seeds are printed too.
    pub verbose: bool,
    /// Whether colours are used.
    pub color: bool,
    /// Columns of the terminal, where there is one.
    pub width: Option<u16>,
}

impl Output {
    /// From what was typed, the terminal and `NO_COLOR`.
    pub fn new(typed: &cli::OutputArgs) -> Self {
        let to_terminal = typed.output.is_none() && std::io::stdout().is_terminal();
        let asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            format: match typed.format {
                cli::Format::Table => ReportFormat::Table,
                cli::Format::Json => ReportFormat::Json,
            },
            file: typed.output.clone(),
            quiet: typed.quiet,
            verbose: typed.verbose,
            color: match typed.color {
                cli::Color::Auto => to_terminal && !asked_not_to,
                cli::Color::Always => true,
                cli::Color::Never => false,
            },
            width: if to_terminal { terminal_size::terminal_size().map(|(width, _)| width.0) } else { None },
        }
    }

    /// How the table is rendered.
    pub fn table(&self) -> table::Options {
        table::Options { width: self.width, color: self.color, verbose: self.verbose }
    }
}
