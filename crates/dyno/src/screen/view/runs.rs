//! Panel with the grid of a sweep in progress, or the ended runs.

use dyno_campaign::progress::CampaignRun;
use dyno_report::number::{ABSENT, compact, time_coarse_us};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, pad_left, pad_right};
use crate::screen::grid::{AuditLevel, CampaignGrid, PointStatus, describe_step, status};
use crate::screen::state::ScreenState;

const CELL: usize = 8;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let grid = CampaignGrid::of(&state.progress);
    let title = match grid.is_known() {
        true => format!("ops/s of the last run, {} across", grid.column_axis),
        false => "runs, latest first".to_owned(),
    };
    let block = look.frame(&title, area);
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let lines = match grid.is_known() {
        true => grid_lines(&grid, look, width, height),
        false => list(&state.progress.ended, look, width, height),
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn grid_lines(grid: &CampaignGrid, look: &ScreenStyle, width: usize, height: usize) -> Vec<Line<'static>> {
    let widest = grid.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
    let names = widest.min(width / 3);
    let columns = (width.saturating_sub(names + 2) / CELL).max(1);
    let (mut from, rows) = (0, height.saturating_sub(1).max(1));
    // The current run must always be visible.
    let running = (0..grid.rows.len())
        .flat_map(|row| (0..grid.columns.len()).map(move |column| (row, column)))
        .find(|(row, column)| grid.at(*row, *column) == Some(PointStatus::Running));
    let (row, column) = running.unwrap_or((0, 0));
    if column >= columns {
        from = column + 1 - columns;
    }
    let top = if row >= rows { row + 1 - rows } else { 0 };
    let shown = from..grid.columns.len().min(from + columns);
    let more = shown.end < grid.columns.len() || top + rows < grid.rows.len();
    let heads: String = grid.columns[shown.clone()].iter().map(|head| pad_left(head, CELL)).collect();
    let sign = if more { "…" } else { "" };
    let mut lines = vec![Line::styled(format!(" {}{heads}{sign}", pad_right("", names)), look.dim())];
    for row in top..grid.rows.len().min(top + rows) {
        let mut spans = vec![Span::raw(format!(" {}", pad_right(&grid.rows[row], names)))];
        for column in shown.clone() {
            let (words, style) =
                grid.at(row, column).map_or((String::new(), Style::new()), |at| cell(at, look));
            spans.push(Span::styled(pad_left(&words, CELL), style));
        }
        lines.push(Line::from(spans));
    }
    lines
}

fn cell(cell: PointStatus, look: &ScreenStyle) -> (String, Style) {
    match cell {
        PointStatus::Waiting => (if look.ascii { "." } else { "·" }.to_owned(), look.dim()),
        PointStatus::Running => (if look.ascii { "<run>" } else { "▶" }.to_owned(), look.accent()),
        PointStatus::Measured(rate, doubt) => match doubt {
            AuditLevel::Nothing => (compact(rate), look.good()),
            AuditLevel::Warned => (format!("{}?", compact(rate)), look.warn()),
            AuditLevel::Invalid => (format!("{}!", compact(rate)), look.bad()),
        },
        PointStatus::Failed => ("failed".to_owned(), look.bad()),
        PointStatus::Stopped => (ABSENT.to_owned(), look.warn()),
    }
}

fn list(ended: &[CampaignRun], look: &ScreenStyle, width: usize, height: usize) -> Vec<Line<'static>> {
    let names = width.saturating_sub(5 + 11 + 10);
    let head = format!(
        " {}{}{}{}",
        pad_left("run", 4),
        pad_right(" what", names + 1),
        pad_left("ops/s", 9),
        pad_left("p99", 10)
    );
    let line = |run: &CampaignRun| {
        let (words, style) = cell(status(run), look);
        let description = describe_step(&run.settings, run.repeat, run.side.as_deref());
        let p99_us = run.run.as_ref().and_then(|result| result.response_p99_us);
        Line::from(vec![
            Span::raw(format!(
                " {} {}",
                pad_left(&run.number.to_string(), 4),
                pad_right(&description, names)
            )),
            Span::styled(pad_left(&words, 9), style),
            Span::raw(pad_left(&p99_us.map_or_else(|| ABSENT.to_owned(), time_coarse_us), 10)),
        ])
    };
    let rows = ended.iter().rev().take(height.saturating_sub(1)).map(line);
    std::iter::once(Line::styled(head, look.dim())).chain(rows).collect()
}
