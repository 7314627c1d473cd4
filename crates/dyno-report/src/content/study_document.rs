//! A study of variants as a document.

use dyno_analyze::conclusion::Conclusion;
use dyno_analyze::conclusion::study::StudyResult;

use crate::content::study::{differed_grid, order_grid, ranking_grid, study_grid, study_plot, verified_grid};
use crate::model::document::{PageSection, ReportDocument};
use crate::model::table::Grid;

/// The study as a page, in Markdown or in a workbook.
pub fn study_document(conclusion: &Conclusion, study: &StudyResult) -> ReportDocument {
    let section = |title: &str, grid: Grid| PageSection {
        title: title.to_owned(),
        grids: vec![(String::new(), grid)],
        ..PageSection::default()
    };
    let plot = study_plot(study);
    let mut sections = vec![
        PageSection {
            plots: if plot.is_empty() { Vec::new() } else { vec![plot] },
            lines: conclusion.sentences().into_iter().chain(conclusion.next_lines()).collect(),
            ..section("Result", ranking_grid(study))
        },
        section("Figures", study_grid(study)),
        section("Variants", verified_grid(study)),
    ];
    let differed = differed_grid(study);
    if !differed.rows.is_empty() {
        sections.push(section("Differences", differed));
    }
    sections.push(section("Order of runs", order_grid(study)));
    ReportDocument { title: study.title.clone(), about: conclusion.of.clone(), sections }
}
