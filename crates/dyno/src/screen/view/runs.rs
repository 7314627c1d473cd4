//! The grid of a sweep that fills, or the runs that have ended.

use dyno_report::number::{ABSENT, compact, time_coarse_us};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::look::{Look, left, right};
use crate::screen::grid::{Cell, Doubt, Grid, Row};
use crate::screen::state::State;

/// Columns of a cell.
const CELL: usize = 8;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, look: &Look) {
    let grid = &state.grid;
    let title = match grid.is_known() {
        true => format!("ops/s of the last run, {} across", grid.across),
        false => "runs, the last first".to_owned(),
    };
    let block = look.frame(&title, area);
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let lines =
        if grid.is_known() { known(grid, look, width, height) } else { list(grid, look, width, height) };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn known(grid: &Grid, look: &Look, width: usize, height: usize) -> Vec<Line<'static>> {
    let widest = grid.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
    let names = widest.min(width / 3);
    let columns = (width.saturating_sub(names + 2) / CELL).max(1);
    let (mut from, rows) = (0, height.saturating_sub(1).max(1));
    // What is under way is always to be seen.
    let running = (0..grid.rows.len())
        .flat_map(|row| (0..grid.columns.len()).map(move |column| (row, column)))
        .find(|(row, column)| grid.at(*row, *column) == Some(Cell::Running));
    let (row, column) = running.unwrap_or((0, 0));
    if column >= columns {
        from = column + 1 - columns;
    }
    let top = if row >= rows { row + 1 - rows } else { 0 };
    let shown = from..grid.columns.len().min(from + columns);
    let more = shown.end < grid.columns.len() || top + rows < grid.rows.len();
    let heads: String = grid.columns[shown.clone()].iter().map(|head| right(head, CELL)).collect();
    let sign = if more { "…" } else { "" };
    let mut lines = vec![Line::styled(format!(" {}{heads}{sign}", left("", names)), look.dim())];
    for row in top..grid.rows.len().min(top + rows) {
        let mut spans = vec![Span::raw(format!(" {}", left(&grid.rows[row], names)))];
        for column in shown.clone() {
            let (words, style) =
                grid.at(row, column).map_or((String::new(), Style::new()), |at| cell(at, look));
            spans.push(Span::styled(right(&words, CELL), style));
        }
        lines.push(Line::from(spans));
    }
    lines
}

fn cell(cell: Cell, look: &Look) -> (String, Style) {
    match cell {
        Cell::Waiting => (if look.ascii { "." } else { "·" }.to_owned(), look.dim()),
        Cell::Running => (if look.ascii { "<run>" } else { "▶" }.to_owned(), look.accent()),
        Cell::Measured(rate, doubt) => match doubt {
            Doubt::Nothing => (compact(rate), look.good()),
            Doubt::Warned => (format!("{}?", compact(rate)), look.warn()),
            Doubt::Invalid => (format!("{}!", compact(rate)), look.bad()),
        },
        Cell::Failed => ("failed".to_owned(), look.bad()),
        Cell::Stopped => (ABSENT.to_owned(), look.warn()),
    }
}

fn list(grid: &Grid, look: &Look, width: usize, height: usize) -> Vec<Line<'static>> {
    let names = width.saturating_sub(5 + 11 + 10);
    let head =
        format!(" {}{}{}{}", right("run", 4), left(" what", names + 1), right("ops/s", 9), right("p99", 10));
    let line = |row: &Row| {
        let (words, style) = cell(row.cell, look);
        Line::from(vec![
            Span::raw(format!(" {} {}", right(&row.number.to_string(), 4), left(&row.what, names))),
            Span::styled(right(&words, 9), style),
            Span::raw(right(&row.p99_us.map_or_else(|| ABSENT.to_owned(), time_coarse_us), 10)),
        ])
    };
    let rows = grid.ended.iter().take(height.saturating_sub(1)).map(line);
    std::iter::once(Line::styled(head, look.dim())).chain(rows).collect()
}
