//! The parts of a report that a page and Markdown show once: the main chart, what conclusions say beyond the
//! answer, and what to do next.

use dyno_analyze::answer::CurveSummary;
use dyno_analyze::conclusion::{Conclusion, ConclusionFigures};
use dyno_analyze::next::NextStep;
use dyno_analyze::{after_watch, next_lines};

use crate::chart::Chart;
use crate::content::report::{CurveWords, Report};

impl Report<'_> {
    /// The chart at the head of a page: over all points, or of the only run. A suite has one for each unit.
    pub(crate) fn main_chart(&self) -> Option<&Chart> {
        self.charts.first().or_else(|| self.close_charts.first()).filter(|_| self.suite().is_none())
    }

    /// What a conclusion says beyond the answer, which has its line and the summaries of its curves already.
    pub(crate) fn further_sentences(&self, conclusion: &Conclusion) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        if self.has_answers() {
            said.extend(self.answers.curves.iter().map(CurveSummary::sentence));
        }
        if self.is_of_all(conclusion) {
            said.push(conclusion.line.clone());
        }
        conclusion.sentences().into_iter().filter(|sentence| !said.contains(sentence)).collect()
    }

    /// Whether a conclusion is about all runs of the report.
    fn is_of_all(&self, conclusion: &Conclusion) -> bool {
        self.seen.part_of.as_ref().is_some_and(|part| part.id == conclusion.of)
    }

    /// Sentences about each curve that the conclusion of a sweep does not have already.
    pub(crate) fn unconcluded_curves(&self) -> &[CurveWords] {
        let is_sweep = |conclusion: &Conclusion| matches!(conclusion.figures, ConclusionFigures::Sweep(_));
        let is_said =
            self.conclusions.iter().any(|conclusion| is_sweep(conclusion) && self.is_of_all(conclusion));
        if is_said { &[] } else { &self.curves }
    }

    /// What to do next, each step once: after the curves, then after the commands.
    pub(crate) fn next_lines(&self) -> Vec<String> {
        // The summaries of two sides do not say which of them is better.
        let steps = self.answers.next.iter().filter(|_| self.has_answers() && self.ab_test().is_none());
        let mut next: Vec<NextStep> = steps.cloned().collect();
        for step in self.conclusions.iter().flat_map(|conclusion| &conclusion.next) {
            if !next.iter().any(|known| known.sentence == step.sentence) {
                next.push(step.clone());
            }
        }
        // What follows a watch is no answer of a curve.
        if let Some(record) = &self.close {
            next.extend(after_watch(record));
        }
        next_lines(&next)
    }
}
