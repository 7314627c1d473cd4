//! A study of variants as a page, in Markdown and as CSV.

use std::fmt::Write as _;

use dyno_analyze::compare::MeasureComparison;
use dyno_analyze::conclusion::Conclusion;
use dyno_analyze::conclusion::study::{StudyResult, StudyRow};
use dyno_analyze::points::median;

use crate::export::{csv_field, sections_markdown};
use crate::grid::Grid;
use crate::html::{PageFrame, PageSection, pages_in};
use crate::study::{
    differed_grid, extent, order_grid, ranking_grid, study_grid, study_plot, verdict, verified_grid,
};

/// The sections of its page.
pub(crate) fn sections(conclusion: &Conclusion, study: &StudyResult) -> Vec<PageSection> {
    let section = |title: &str, grid: Grid| PageSection {
        title: title.to_owned(),
        grids: vec![(String::new(), grid)],
        ..PageSection::default()
    };
    let plot = study_plot(study);
    let mut all = vec![
        PageSection {
            plots: if plot.is_empty() { Vec::new() } else { vec![plot] },
            lines: conclusion.sentences(),
            ..section("Result", ranking_grid(study))
        },
        section("Figures", study_grid(study)),
        section("Variants", verified_grid(study)),
    ];
    let differed = differed_grid(study);
    if !differed.rows.is_empty() {
        all.push(section("Differences", differed));
    }
    all.push(section("Order of runs", order_grid(study)));
    all
}

/// The study as one page.
pub fn study_page(conclusion: &Conclusion, study: &StudyResult) -> String {
    study_page_in(None, conclusion, study)
}

/// The page for a server, inside its `frame`.
pub fn study_page_in(frame: Option<&PageFrame>, conclusion: &Conclusion, study: &StudyResult) -> String {
    pages_in(frame, &study.title, &conclusion.of, &sections(conclusion, study))
}

pub fn study_markdown(conclusion: &Conclusion, study: &StudyResult) -> String {
    sections_markdown(&study.title, &sections(conclusion, study))
}

/// The study as CSV with a line for each variant in each figure, with all digits.
pub fn study_csv(study: &StudyResult) -> String {
    let mut out = "task,measure,unit,variant,runs,median,least,most,to_base_pct,interval_low_pct,interval_high_pct,p,p_adjusted,verdict,others_had_part\r\n".to_owned();
    let mut line = |row: &StudyRow, name: &str, values: &[f64], cell: Option<&MeasureComparison>| {
        let (low, high) = extent(values);
        let number = |value: Option<f64>| {
            value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
        };
        let interval = cell.and_then(|cell| cell.interval_pct);
        let marked = cell.is_some_and(|cell| cell.marked.1);
        let fields = [
            csv_field(&row.task),
            csv_field(&row.measure),
            csv_field(row.unit.name()),
            csv_field(name),
            values.len().to_string(),
            number(median(values)),
            number(Some(low)),
            number(Some(high)),
            number(cell.and_then(|cell| cell.difference_pct)),
            number(interval.map(|interval| interval.0)),
            number(interval.map(|interval| interval.1)),
            number(cell.and_then(|cell| cell.p)),
            number(cell.and_then(|cell| cell.p_adjusted)),
            cell.map_or_else(|| "base".to_owned(), |cell| verdict(cell).text),
            if marked { "yes".to_owned() } else { String::new() },
        ];
        let _ = write!(out, "{}\r\n", fields.join(","));
    };
    for row in &study.rows {
        for (at, variant) in study.variants.iter().enumerate() {
            match &row.cells[at] {
                Some(cell) => line(row, &variant.name, &cell.b_runs, Some(cell)),
                None => line(row, &variant.name, &row.base, None),
            }
        }
    }
    out
}
