//! Judges a comparison at one look of a sequential test.

use dyno_record::RunRecord;

use super::compared::{MeasureComparison, interval_pct};
use super::overall::nothing;
use super::ratio::MedianRatio;
use super::verdict::{ComparisonVerdict, VerdictEvidence, judge};
use super::{RunComparison, better, is_run_scoped};
use crate::points::Better;
use crate::sequential::Boundary;

/// A look of a sequential test: what its boundary says of each measure on its own, which keeps the error rate of
/// the test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookJudge {
    /// Absent where no result could decide, or the test ended between two looks: then nothing is decided.
    pub(crate) boundary: Option<Boundary>,
    pub(crate) margin_pct: f64,
    /// Whether background activity differs between the sides.
    pub(crate) is_confounded: bool,
}

/// The verdict at a look, and the interval, %.
type LookVerdict = (ComparisonVerdict, Option<(f64, f64)>);

impl LookJudge {
    /// The verdict on a measure; `None` where no test is needed, because both sides are nearly zero or have one run.
    pub(crate) fn judge(
        &self,
        compared: &MeasureComparison,
        better: Better,
        run_scoped: bool,
    ) -> Option<LookVerdict> {
        if nothing(compared) || compared.verdict == ComparisonVerdict::OneRunEach {
            return None;
        }
        let ratio = self.boundary.and_then(|boundary| boundary.ratio(&compared.a_runs, &compared.b_runs));
        let verdict = ratio.map_or(ComparisonVerdict::Unsure, |ratio| {
            let verdict = judge(&evidence(compared, ratio, run_scoped), better, self.margin_pct);
            if self.is_confounded { verdict.confounded() } else { verdict }
        });
        Some((verdict, ratio.filter(|_| compared.difference_pct.is_some()).map(interval_pct)))
    }
}

/// Replaces the intervals and verdicts of `comparison`, which has one point, by those of the look
/// with this boundary. Without a boundary nothing is decided. `records` are those of both sides.
pub fn judge_look(comparison: &mut RunComparison, boundary: Option<&Boundary>, records: &[&RunRecord]) {
    let look = LookJudge {
        boundary: boundary.copied(),
        margin_pct: comparison.margin_pct,
        is_confounded: !comparison.background.is_empty(),
    };
    let [point] = comparison.points.as_mut_slice() else { return };
    comparison.over_looks = true;
    for compared in &mut point.measures {
        let Some(overall) = comparison.overall.iter_mut().find(|o| o.measure == compared.measure) else {
            continue;
        };
        let better = better(&compared.measure, compared.unit);
        let run_scoped = is_run_scoped(&compared.measure, records.iter());
        if let Some((verdict, interval_pct)) = look.judge(compared, better, run_scoped) {
            (compared.verdict, overall.verdict) = (verdict, verdict);
            (compared.interval_pct, overall.interval_pct) = (interval_pct, interval_pct);
        }
    }
}

fn evidence(compared: &MeasureComparison, ratio: MedianRatio, run_scoped: bool) -> VerdictEvidence {
    VerdictEvidence {
        runs: (compared.a_runs.len(), compared.b_runs.len()),
        runs_max: compared.a_runs.len().max(compared.b_runs.len()),
        ratio: Some(ratio),
        // The interval is the test: it excludes 0 exactly where the ranks differ at the level of the look.
        p: Some(0.0),
        near_zero: false,
        marked: (compared.marked.0 || compared.marked.1) && !run_scoped,
    }
}
