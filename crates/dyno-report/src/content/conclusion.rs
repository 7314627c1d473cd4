//! Shows what commands concluded, in the same words in a terminal, on a page and in Markdown.

use dyno_analyze::conclusion::{Conclusion, ConclusionFigures};

use crate::content::compare::{compare_grid, compare_text};
use crate::content::soak::minute_grid;
use crate::content::study::study_grid;
use crate::content::suite;
use crate::model::table::Grid;
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

/// Maximum lines of one sentence.
const LINES_MAX: usize = 12;

/// Title with the command and its name: `A/B test ab-20260321-142501-7f3a`.
pub(crate) fn title(conclusion: &Conclusion) -> String {
    format!("{} {}", conclusion.kind(), conclusion.of)
}

/// The conclusion for a terminal: its table, if it has one, and its sentences.
pub fn conclusion_text(conclusion: &Conclusion, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Paint::Head, &clean(&title(conclusion))));
    match &conclusion.figures {
        ConclusionFigures::Ab(ab) => {
            let table = ab.comparison.as_ref().map(|comparison| compare_text(comparison, &ab.gates, style));
            out.push_str(&table.unwrap_or_default());
        }
        ConclusionFigures::Soak(soak) => out.push_str(&minute_grid(&soak.parts).render(style)),
        ConclusionFigures::Suite(suite) => out.push_str(&suite::text(suite, style)),
        ConclusionFigures::Study(study) => out.push_str(&study_grid(study).render(style)),
        ConclusionFigures::Search(_) | ConclusionFigures::Sweep(_) | ConclusionFigures::Newer(_) => {}
    }
    // The table of a comparison contains all its measures.
    let sentences = match conclusion.figures {
        ConclusionFigures::Ab(_) => {
            conclusion.sentences().into_iter().take(1 + usize::from(conclusion.stopped.is_some())).collect()
        }
        _ => conclusion.sentences(),
    };
    for sentence in sentences.into_iter().chain(conclusion.next_lines()) {
        for line in wrap(&clean(&sentence), style.columns() - 2, LINES_MAX) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out
}

/// Its table for a page or Markdown; `None` if the sentences suffice.
pub(crate) fn grid(conclusion: &Conclusion) -> Option<Grid> {
    match &conclusion.figures {
        ConclusionFigures::Ab(ab) => ab.comparison.as_ref().map(compare_grid),
        ConclusionFigures::Soak(soak) => Some(minute_grid(&soak.parts)).filter(|grid| !grid.rows.is_empty()),
        ConclusionFigures::Suite(suite) => Some(suite::overview(suite)),
        ConclusionFigures::Study(study) => Some(study_grid(study)),
        _ => None,
    }
}
