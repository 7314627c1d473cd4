//! The conclusion of a command from runs that belong together: its figures, and the words for them.
//!
//! A sweep, search, soak or A/B test ends with a conclusion. It is made here, stored with the
//! runs, and shown by everything that shows these runs. The words are made once, so terminal, page
//! and JSON are identical.

pub mod ab;
mod pairs;
pub mod search;
pub mod sequential;
pub mod soak;
pub mod study;
pub mod suite;
pub mod sweep;

use dyno_record::SweepId;
use serde::{Deserialize, Serialize};

use crate::next::{NextStep, next_lines};
pub use ab::{AbResult, AbSide};
pub use pairs::SERVER_PREFIX;
pub use search::{SearchResult, SearchTrial};
pub use sequential::{SequentialLook, SequentialResult, SequentialStop};
pub use soak::SoakResult;
pub use study::StudyResult;
pub use suite::SuiteResult;
pub use sweep::SweepResult;

/// The figures of a conclusion, by the command that drew it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ConclusionFigures {
    Ab(Box<AbResult>),
    Search(SearchResult),
    Soak(SoakResult),
    /// Of a study of variants.
    Study(Box<StudyResult>),
    /// Of a suite of tests.
    Suite(Box<SuiteResult>),
    Sweep(SweepResult),
    /// The figures as stored by a newer version of Dyno, whose kind or structure is unknown here.
    #[serde(untagged)]
    Newer(serde_json::Value),
}

/// The conclusion that a command drew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conclusion {
    /// The name that its runs share: `ab-20260321-142501-7f3a`.
    pub of: SweepId,
    /// Why the command stopped early; absent where it completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The conclusion in one sentence.
    pub line: String,
    /// Further findings, one sentence each.
    pub words: Vec<String>,
    /// What to do next; at most three steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextStep>,
    /// The figures from which the sentences are made.
    pub figures: ConclusionFigures,
}

impl Conclusion {
    fn new(
        campaign_id: &str,
        stopped: Option<String>,
        line: String,
        words: Vec<String>,
        figures: ConclusionFigures,
    ) -> Self {
        Self { of: campaign_id.to_owned(), stopped, line, words, next: Vec::new(), figures }
    }

    /// Reads a stored conclusion.
    ///
    /// # Errors
    /// It is no conclusion.
    pub fn from_json(value: serde_json::Value) -> Result<Self, serde_json::Error> {
        let mut read: Self = serde_json::from_value(value)?;
        // Earlier versions did not store it beside the comparison.
        if let ConclusionFigures::Ab(test) = &mut read.figures
            && test.sequential.is_some()
            && let Some(comparison) = &mut test.comparison
        {
            comparison.over_looks |= comparison.points.len() == 1;
        }
        Ok(read)
    }

    fn followed_by(self, next: Vec<NextStep>) -> Self {
        Self { next, ..self }
    }

    /// The conclusion whose commands repeat these options of its runs.
    #[must_use]
    pub fn with_options(self, options: &[String]) -> Self {
        let next = self.next.into_iter().map(|step| step.completed(options)).collect();
        Self { next, ..self }
    }

    /// The name of its kind: `A/B test`.
    pub fn kind(&self) -> &'static str {
        match self.figures {
            ConclusionFigures::Ab(_) => "A/B test",
            ConclusionFigures::Search(_) => "search",
            ConclusionFigures::Soak(_) => "soak",
            ConclusionFigures::Study(_) => "study",
            ConclusionFigures::Suite(_) => "suite",
            ConclusionFigures::Sweep(_) => "sweep",
            ConclusionFigures::Newer(_) => "conclusion of a newer version",
        }
    }

    /// What to do next, as the last lines of its summary. The summary of a sweep's curves has them
    /// already.
    pub fn next_lines(&self) -> Vec<String> {
        match self.figures {
            ConclusionFigures::Sweep(_) => Vec::new(),
            _ => next_lines(&self.next),
        }
    }

    /// How a sequential test stopped, in one sentence; absent for other conclusions.
    pub fn sequential_sentence(&self) -> Option<&str> {
        let is_sequential = matches!(&self.figures, ConclusionFigures::Ab(ab) if ab.sequential.is_some());
        self.words.first().filter(|_| is_sequential).map(String::as_str)
    }

    /// The conclusion, whether the command completed, and all further findings, one sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let newer = match &self.figures {
            ConclusionFigures::Newer(figures) => {
                let kind = figures["kind"].as_str().map_or(String::new(), |kind| format!(" ({kind:?})"));
                Some(format!("another version of Dyno stored it{kind}: use that one to see its figures"))
            }
            _ => None,
        };
        let stopped = self.stopped.iter().map(|why| format!("it did not finish: {why}"));
        std::iter::once(self.line.clone())
            .chain(stopped)
            .chain(self.words.iter().cloned())
            .chain(newer)
            .collect()
    }
}

#[cfg(test)]
mod tests;
