//! The look that all tables share: a rule under the header, nothing else, so that rows can be copied and read narrow.

use comfy_table::{Cell, ContentArrangement, LineStyle, Table, TableStyle};

use super::paint::Paint;

const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));
/// Where rows have several lines, a light rule tells them apart.
const RULED: TableStyle = STYLE.row_separator(LineStyle::none().fill('╌'));

/// What the verdicts look like; the sign makes them readable without colour.
pub(super) const PASS: &str = "✓ pass";
pub(super) const FAIL: &str = "✗ fail";
pub(super) const INCONCLUSIVE: &str = "? inconclusive";

/// A table as lines without blanks at their ends. Cells may hold line breaks; they must be clean.
pub(super) fn lines(width: u16, header: &[String], rows: &[Vec<String>]) -> Vec<String> {
    let tall = rows.len() > 1 && rows.iter().flatten().any(|cell| cell.contains('\n'));
    let mut table = Table::new();
    table
        .force_no_tty()
        .load_style(if tall { RULED } else { STYLE })
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    table.set_header(header.iter().map(Cell::new));
    for row in rows {
        table.add_row(row.iter().map(Cell::new));
    }
    let last = header.len().saturating_sub(1);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(i == 0), if i == last { 0 } else { 2 }));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Colours the header and the verdicts of a table's lines.
pub(super) fn painted(lines: Vec<String>, paint: Paint) -> Vec<String> {
    let mut header = true;
    let paint_line = |line: String| {
        if line.starts_with('─') {
            header = false;
            return paint.dim(&line);
        }
        if header {
            return paint.bold(&line);
        }
        if line.starts_with('╌') {
            return paint.dim(&line);
        }
        line.replace(PASS, &paint.good(PASS))
            .replace(FAIL, &paint.bad(FAIL))
            .replace(INCONCLUSIVE, &paint.doubtful(INCONCLUSIVE))
    };
    lines.into_iter().map(paint_line).collect()
}
