//! Writes tables as a workbook: figures are numbers, and every text is a text, whatever it begins with.

use rust_xlsxwriter::{Format, FormatAlign, Workbook, Worksheet, XlsxError};

use super::{ExportError, csv, xlsx_chart};
use crate::chart::Chart;
use crate::content::ab_test::ab_grid;
use crate::content::answer::answer_grid;
use crate::content::report::Report;
use crate::content::watched::locks;
use crate::content::workbook::{audit_grid, of_run, settings_grid, summary_grid};
use crate::content::{ramps, server_activity, suite, table_activity, top_statements};
use crate::model::request::ReportRequest;
use crate::model::table::{CellNumber, Grid, GridCell};
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
    add("Summary", summary_grid(report));
    let ab_grid = report.ab_test().and_then(ab_grid);
    let name = if ab_grid.is_some() { "Sides" } else { "Answer" };
    if let Some(grid) = ab_grid {
        add("Answer", grid);
    }
    if report.has_answers() {
        add(name, answer_grid(&report.answers));
    }
    match report.suite() {
        Some(result) => {
            let tests: Vec<_> = result.tests.iter().collect();
            add("Suite", suite::overview(result));
            add("Suite steps", suite::steps(&tests));
            add("Suite costs", suite::costs(&tests));
        }
        None => {
            for conclusion in &report.conclusions {
                if let Some(grid) = crate::content::conclusion::grid(conclusion) {
                    add(conclusion.kind(), grid);
                }
            }
            add("Results", report.grid());
            if ramps::has_tables(&report.points) {
                for (name, table) in
                    ["Processors and throughput", "Reads and writes"].into_iter().zip(&ramps::TABLES)
                {
                    add(name, table.grid(&report.points));
                }
            }
        }
    }
    if let Some((rates, limits)) = &report.matrix {
        add("At a glance", rates.clone());
        add("What dominates", limits.clone());
    }
    for (title, grid) in report.close.as_ref().map(|record| locks::tables(record)).unwrap_or_default() {
        add(title, of_run(report, grid));
    }
    if let Some(grid) = report.close.as_ref().and_then(server_activity::grid) {
        add("Server activity", of_run(report, grid));
    }
    if let Some(grid) = report.close.as_ref().and_then(top_statements::grid) {
        add("Top statements", of_run(report, grid));
    }
    for (title, grid) in report.close.as_ref().map(|record| table_activity::grids(record)).unwrap_or_default()
    {
        add(title, of_run(report, grid));
    }
    add("Audit", audit_grid(report));
    add("Runs", runs(report)?);
    add("Plan and settings", settings_grid(report));
    let charts: Vec<&Chart> = report.charts.iter().collect();
    out.write_all(&workbook_with_charts(&sheets, &charts)?)?;
    Ok(())
}

/// Each run with every figure in full, as in CSV.
fn runs(report: &Report<'_>) -> Result<Grid, ExportError> {
    let mut grid = Grid::new(csv::heads(report));
    let mut left_out = 0usize;
    csv::each(report, &mut |cells| {
        if grid.rows.len() < RUNS_MAX {
            grid.row(cells);
        } else {
            left_out += 1;
        }
        Ok(())
    })?;
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
    workbook_with_charts(sheets, &[])
}

/// A workbook with these tables, and then a sheet for each chart.
fn workbook_with_charts(sheets: &[WorkbookSheet], charts: &[&Chart]) -> Result<Vec<u8>, ExportError> {
    let mut book = Workbook::new();
    let mut names: Vec<String> = Vec::new();
    for (name, grid) in sheets {
        let sheet = book.add_worksheet();
        sheet.set_name(unique_sheet_name(name, &mut names))?;
        fill(sheet, grid)?;
    }
    for chart in charts {
        let Some((title, grid)) = xlsx_chart::sheet(chart) else { continue };
        let sheet = book.add_worksheet();
        let name = unique_sheet_name(&title, &mut names);
        sheet.set_name(&name)?;
        fill(sheet, &grid)?;
        xlsx_chart::insert(sheet, &name, &grid, chart)?;
    }
    if names.is_empty() {
        book.add_worksheet().write_string(0, 0, "nothing was measured")?;
    }
    Ok(book.save_to_buffer()?)
}

/// A valid sheet name that no other sheet has.
fn unique_sheet_name(name: &str, names: &mut Vec<String>) -> String {
    let safe: String = clean(name).replace(['[', ']', ':', '*', '?', '/', '\\', '\''], " ");
    let safe = safe.split_whitespace().collect::<Vec<_>>().join(" ");
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
    let grid = &*grid.in_workbook();
    let bold = Format::new().set_bold().set_text_wrap().set_align(FormatAlign::Top);
    for (column, head) in (0u16..).zip(&grid.heads) {
        let common_unit = common_unit(grid, usize::from(column)).filter(|_| head.unit.is_empty());
        let unit = common_unit.unwrap_or(&head.unit);
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
            match &cell.number {
                Some(number) => write_number(sheet, row, column, number, common_unit.is_none())?,
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

/// Writes a number with all its digits. Its unit, the mark for activity of others and other qualifications are
/// part of the format, so that formulas can still use it.
fn write_number(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    number: &CellNumber,
    with_unit: bool,
) -> Result<(), XlsxError> {
    let format = Format::new().set_num_format(number.workbook_format(with_unit));
    sheet.write_number_with_format(row, column, number.value, &format)?;
    Ok(())
}

/// The own unit of all numbers in a column, if they have the same one.
fn common_unit(grid: &Grid, column: usize) -> Option<&str> {
    let mut numbers = grid.rows.iter().filter_map(|(_, cells)| cells.get(column)?.number.as_ref());
    let unit = numbers.next()?.unit.as_str();
    (!unit.is_empty() && numbers.all(|number| number.unit == unit)).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(sheet_names[0] != sheet_names[1], "{sheet_names:?}");
        assert!(sheet_names[4] == "results 2", "{sheet_names:?}");
    }

    /// Each sheet's name and its texts in the order of the file.
    fn sheets(bytes: Vec<u8>) -> Vec<(String, String)> {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let mut part = |name: &str| {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut archive.by_name(name).unwrap(), &mut text).unwrap();
            text
        };
        let book = part("xl/workbook.xml");
        let strings = part("xl/sharedStrings.xml");
        let inside = |text: &str| text.split_once('>').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        let strings: Vec<String> =
            strings.split("<t").skip(1).map(|text| inside(text.split("</t>").next().unwrap())).collect();
        let names =
            book.split("<sheet name=\"").skip(1).map(|text| text.split('"').next().unwrap().to_owned());
        let names: Vec<String> = names.collect();
        let mut texts = |at: usize| {
            let sheet = part(&format!("xl/worksheets/sheet{}.xml", at + 1));
            let shared =
                sheet.split("t=\"s\"><v>").skip(1).map(|cell| cell.split('<').next().unwrap().to_owned());
            shared.map(|at| strings[at.parse::<usize>().unwrap()].clone()).collect::<Vec<_>>().join("\n")
        };
        names.iter().enumerate().map(|(at, name)| (name.clone(), texts(at))).collect()
    }

    #[test]
    fn workbook_explains_its_figures_and_names_the_run_of_details() {
        let mut records: Vec<dyno_record::RunRecord> =
            [(0, 1), (0, 4)].into_iter().map(dyno_analyze::fixture::at_point).collect();
        let attribution = dyno_record::Attribution {
            scope: dyno_record::AttributionScope::Host,
            others_pct: Some(30.0),
            marked: true,
            why: "others".into(),
        };
        for record in &mut records {
            dyno_analyze::judge(record);
            record.whose.insert("cpu_busy_pct".into(), attribution.clone());
        }
        let report = Report::of(&records);
        let mut bytes = Vec::new();
        export(&report, &ReportRequest::default(), &mut bytes).unwrap();
        let sheets = sheets(bytes);
        let texts = |name: &str| {
            &sheets.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name}")).1
        };
        assert_eq!(sheets[0].0, "Summary");
        let summary = texts("Summary");
        assert!(summary.contains("† may include other load or be slowed by it: CPU busy"), "{summary}");
        assert!(
            report
                .next_lines()
                .iter()
                .all(|line| summary.contains(line.trim_start_matches("next: ").trim_matches(['`', ':']))),
            "{summary}"
        );
        assert!(texts("Audit").contains("Little"), "{}", texts("Audit"));
        assert!(texts("Plan and settings").contains("workload.update_pct"));
        let shown = &report.close.as_ref().unwrap().id;
        let mut grid = Grid::new(vec![crate::model::table::GridHead::text("counter")]);
        grid.row([GridCell::text("checkpoints")]);
        let detail = of_run(&report, grid);
        assert_eq!(detail.heads[0].label, "run");
        assert_eq!(detail.rows[0].1[0].text, format!("{shown} (4 sessions)"));
    }

    #[test]
    fn workbook_has_native_charts_of_throughput_and_p99() {
        let points = [0, 20].into_iter().flat_map(|updates| [1, 2, 4].map(|sessions| (updates, sessions)));
        let records: Vec<dyno_record::RunRecord> = points.map(dyno_analyze::fixture::at_point).collect();
        let mut bytes = Vec::new();
        export(&Report::of(&records), &ReportRequest::default(), &mut bytes).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
        let mut part = |name: &str| {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut archive.by_name(name).unwrap(), &mut text).unwrap();
            text
        };
        let charts: Vec<String> =
            names.iter().filter(|name| name.starts_with("xl/charts/chart")).map(|name| part(name)).collect();
        for title in ["Throughput by sessions", "Service time p99 by sessions"] {
            let chart = charts.iter().find(|chart| chart.contains(&format!("<a:t>{title}</a:t>")));
            let chart = chart.unwrap_or_else(|| panic!("no chart {title} in {names:?}"));
            assert!(chart.contains("<c:scatterChart>"), "{chart}");
            assert!(chart.matches("<c:ser>").count() == 2, "{chart}");
            assert!(chart.contains(&format!("'{title}'!$B$2:$B$4")), "{chart}");
        }
        assert!(part("xl/workbook.xml").contains("Throughput by sessions"), "the figures have a sheet");
    }
}
