//! A report in the format that was asked for.

use crate::report::{Report, json, table};
use crate::settings::{Output, ReportFormat};

/// The report's text.
pub fn report(report: &Report, output: &Output) -> String {
    match output.format {
        ReportFormat::Table => table::render(report, &output.table()),
        ReportFormat::Json => json::render(report),
    }
}
