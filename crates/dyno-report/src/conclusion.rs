//! What commands concluded, shown: the same words in a terminal, on a page and in Markdown.

use dyno_analyze::conclusion::{Conclusion, Figures};

use crate::compare_table::{compare_grid, compare_text};
use crate::grid::Grid;
use crate::soak::minute_table;
use crate::style::{Paint, Style};
use crate::suite;
use crate::text::{clean, wrap};

/// Lines that one sentence may take.
const LINES_MAX: usize = 12;

/// What it is of, as a title: `A/B comparison ab-20260321-142501-7f3a`.
pub(crate) fn title(conclusion: &Conclusion) -> String {
    format!("{} {}", conclusion.kind(), conclusion.of)
}

/// The conclusion for a terminal: its table, where it has one, and its sentences.
pub fn conclusion_text(conclusion: &Conclusion, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Paint::Head, &clean(&title(conclusion))));
    match &conclusion.figures {
        Figures::Ab(ab) => {
            let table = ab.comparison.as_ref().map(|comparison| compare_text(comparison, &ab.gates, style));
            out.push_str(&table.unwrap_or_default());
        }
        Figures::Soak(soak) => out.push_str(&minute_table(&soak.parts, style)),
        Figures::Suite(suite) => out.push_str(&suite::text(suite, style)),
        Figures::Study(study) => out.push_str(&crate::study::study_text(study, style)),
        Figures::Search(_) | Figures::Sweep(_) | Figures::Newer(_) => {}
    }
    // The table of a comparison has all its measures.
    let sentences = match conclusion.figures {
        Figures::Ab(_) => {
            conclusion.sentences().into_iter().take(1 + usize::from(conclusion.stopped.is_some())).collect()
        }
        _ => conclusion.sentences(),
    };
    for sentence in sentences {
        for line in wrap(&clean(&sentence), style.columns() - 2, LINES_MAX) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out
}

/// Its table for a page or Markdown; none where the sentences say it all.
pub(crate) fn grid(conclusion: &Conclusion) -> Option<Grid> {
    match &conclusion.figures {
        Figures::Ab(ab) => ab.comparison.as_ref().map(compare_grid),
        Figures::Suite(suite) => Some(suite::overview(suite)),
        Figures::Study(study) => Some(crate::study::study_grid(study)),
        _ => None,
    }
}
