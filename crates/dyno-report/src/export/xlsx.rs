//! Writes tables as a workbook: figures are numbers, and every text is a text, whatever it begins with.

use rust_xlsxwriter::{Format, FormatAlign, Workbook, Worksheet, XlsxError};

use dyno_analyze::attribution::{MARK, unmarked};

use super::{ExportError, ReportRequest, csv};
use crate::answer::answer_grid;
use crate::grid::{Grid, GridCell, GridHead};
use crate::ramp_tables;
use crate::report::Report;
use crate::text::clean;

/// Maximum runs in a workbook; more of them require CSV.
const RUNS_MAX: usize = 20_000;
/// Maximum characters of a sheet's name.
const NAME_MAX: usize = 31;
/// Maximum characters of a cell.
const TEXT_MAX: usize = 32_000;
/// Maximum width of a column in characters.
const WIDTH_MAX: usize = 60;

/// One sheet: its name and its table.
pub type WorkbookSheet = (String, Grid);

pub(super) fn export(
    report: &Report<'_>,
    _: &ReportRequest,
    out: &mut dyn std::io::Write,
) -> Result<(), ExportError> {
    let mut sheets: Vec<WorkbookSheet> = Vec::new();
    let mut add = |name: &str, grid: Grid| {
        if !grid.rows.is_empty() {
            sheets.push((name.to_owned(), grid));
        }
    };
    if report.has_answers() {
        add("Answer", answer_grid(&report.answers));
    }
    match report.suite() {
        Some(suite) => crate::suite::sheets(suite).into_iter().for_each(|(name, grid)| add(name, grid)),
        None => {
            for conclusion in &report.conclusions {
                if let Some(grid) = crate::conclusion::grid(conclusion) {
                    add(conclusion.kind(), grid);
                }
            }
            add("Results", report.grid());
            if ramp_tables::has_tables(&report.points) {
                for (name, table) in ["Throughput", "Physical I/O"].into_iter().zip(&ramp_tables::TABLES) {
                    add(name, table.grid(&report.points));
                }
            }
        }
    }
    if let Some((rates, limits)) = &report.matrix {
        add("At a glance", rates.clone());
        add("What dominates", limits.clone());
    }
    add("Runs", runs(report)?);
    out.write_all(&workbook(&sheets)?)?;
    Ok(())
}

/// Each run with every figure in full, as in CSV.
fn runs(report: &Report<'_>) -> Result<Grid, ExportError> {
    let mut grid: Option<Grid> = None;
    let (mut left_out, texts) = (0usize, csv::texts(report));
    csv::each(report, &mut |fields| {
        match &mut grid {
            None => {
                let head = |(at, name): (usize, &String)| match at < texts {
                    true => GridHead::text(name),
                    false => GridHead::figures(name, ""),
                };
                grid = Some(Grid::new(fields.iter().enumerate().map(head).collect()));
            }
            Some(grid) if grid.rows.len() < RUNS_MAX => {
                grid.row(fields.iter().map(|field| GridCell::text(field)).collect());
            }
            Some(_) => left_out += 1,
        }
        Ok(())
    })?;
    let mut grid = grid.unwrap_or_else(|| Grid::new(Vec::new()));
    if left_out > 0 {
        grid.row(vec![GridCell::text(&format!("and {left_out} more lines; CSV contains all of them"))]);
    }
    Ok(grid)
}

/// A workbook with these tables.
///
/// # Errors
/// It cannot be written.
pub fn workbook(sheets: &[WorkbookSheet]) -> Result<Vec<u8>, ExportError> {
    let mut book = Workbook::new();
    let mut names: Vec<String> = Vec::new();
    for (name, grid) in sheets {
        let sheet = book.add_worksheet();
        sheet.set_name(unique_sheet_name(name, &mut names))?;
        fill(sheet, grid)?;
    }
    if sheets.is_empty() {
        book.add_worksheet().write_string(0, 0, "nothing was measured")?;
    }
    Ok(book.save_to_buffer()?)
}

/// A valid sheet name that no other sheet has.
fn unique_sheet_name(name: &str, names: &mut Vec<String>) -> String {
    let safe: String = clean(name).replace(['[', ']', ':', '*', '?', '/', '\\', '\''], " ");
    let cut = |len: usize| safe.chars().take(len).collect::<String>().trim().to_owned();
    let whole = Some(cut(NAME_MAX)).filter(|name| !name.is_empty()).unwrap_or_else(|| "table".to_owned());
    let is_taken = |names: &[String], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let mut candidate = whole;
    for number in 2.. {
        if !is_taken(names, &candidate) {
            break;
        }
        candidate = format!("{} {number}", cut(NAME_MAX - 6));
    }
    names.push(candidate.clone());
    candidate
}

fn fill(sheet: &mut Worksheet, grid: &Grid) -> Result<(), XlsxError> {
    let bold = Format::new().set_bold().set_text_wrap().set_align(FormatAlign::Top);
    for (column, head) in (0u16..).zip(&grid.heads) {
        let times = is_of_times(grid, usize::from(column));
        let unit = if times { "µs" } else { &head.unit };
        let name = if unit.is_empty() {
            clean(&head.label)
        } else {
            format!("{}, {}", clean(&head.label), clean(unit))
        };
        sheet.write_string_with_format(0, column, truncate_text(&name), &bold)?;
        let mut width = name.chars().count().min(24);
        for (row, (_, cells)) in (1u32..).zip(&grid.rows) {
            let Some(cell) = cells.get(usize::from(column)) else { continue };
            width = width.max(cell.text.chars().count());
            match figure(head, &cell.text, times) {
                Some((value, marked)) => write_figure(sheet, row, column, value, marked)?,
                None => drop(sheet.write_string(row, column, truncate_text(&clean(&cell.text)))?),
            }
        }
        sheet.set_column_width(column, (width + 2).clamp(6, WIDTH_MAX) as f64)?;
    }
    sheet.set_freeze_panes(1, 1)?;
    if !grid.rows.is_empty() && !grid.heads.is_empty() {
        let (last_row, last_column) = (grid.rows.len() as u32, grid.heads.len() as u16 - 1);
        sheet.autofilter(0, 0, last_row, last_column)?;
    }
    Ok(())
}

fn truncate_text(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// Writes a number; the mark for activity of others is part of its format, so that formulas can still use it.
fn write_figure(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    value: f64,
    marked: bool,
) -> Result<(), XlsxError> {
    let digits = if value.fract() == 0.0 { "#,##0" } else { "#,##0.###" };
    let format = if marked { format!("{digits}\"{MARK}\"") } else { digits.to_owned() };
    sheet.write_number_with_format(row, column, value, &Format::new().set_num_format(format))?;
    Ok(())
}

/// The number in a cell of figures, and whether it has the mark; `None` for text.
fn figure(head: &GridHead, text: &str, times: bool) -> Option<(f64, bool)> {
    if !head.figures {
        return None;
    }
    let bare = unmarked(text);
    let value = if times { time_us(bare) } else { plain(bare) }?;
    Some((value, bare.len() < text.len()))
}

/// Parses `1,234.5`, `+3.09`, `-12.66`; rejects hexadecimal, infinity, and letters except the exponent of a
/// full figure.
fn plain(text: &str) -> Option<f64> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+')
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-' | '+' | 'e'));
    let value: f64 = is_number.then(|| text.replace(',', "").parse().ok())??;
    value.is_finite().then_some(value)
}

/// Converts `1.30 ms` to µs.
fn time_us(text: &str) -> Option<f64> {
    let (figure, unit) = text.split_once(' ')?;
    let us = match unit {
        "ns" => 1e-3,
        "µs" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return None,
    };
    Some(plain(figure)? * us)
}

/// Whether all figures of a column are times with their own unit.
fn is_of_times(grid: &Grid, column: usize) -> bool {
    let mut has_times = false;
    for (_, cells) in &grid.rows {
        let Some(cell) = cells.get(column) else { continue };
        let text = unmarked(&cell.text);
        if time_us(text).is_some() {
            has_times = true;
        } else if plain(text).is_some() {
            return false;
        }
    }
    has_times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xlsx_values_are_numbers_and_keep_marks() {
        let (figures, text) = (GridHead::figures("ops", "/s"), GridHead::text("name"));
        assert_eq!(figure(&figures, "1,234.5†", false), Some((1_234.5, true)));
        assert_eq!(figure(&figures, "1.30 ms", true), Some((1_300.0, false)));
        for words in ["—", "=1+1", "inf", "nan", "0x10", "20 %", ""] {
            assert_eq!(figure(&figures, words, false), None, "{words}");
        }
        assert_eq!(figure(&text, "1", false), None, "a name stays a name");
    }

    #[test]
    fn sheet_names_are_valid_and_unique() {
        let mut names = Vec::new();
        let long = "a/b:c*d?[e] and a name that is much longer than thirty-one";
        let sheet_names: Vec<String> =
            [long, long, "'", "Results", "results"].map(|name| unique_sheet_name(name, &mut names)).into();
        assert!(
            sheet_names
                .iter()
                .all(|name| name.chars().count() <= NAME_MAX && !name.contains(['/', ':', '*']))
        );
        assert!(sheet_names[0] != sheet_names[1] && sheet_names[4] == "results 2", "{sheet_names:?}");
    }
}
