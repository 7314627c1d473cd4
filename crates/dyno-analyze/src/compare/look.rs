//! Judges a comparison at one look of a sequential test.

use dyno_record::RunRecord;

use super::compared::{MeasureComparison, interval_pct};
use super::overall::nothing;
use super::ratio::MedianRatio;
use super::verdict::{ComparisonVerdict, VerdictEvidence, judge};
use super::{RunComparison, better, is_run_scoped};
use crate::sequential::Boundary;

/// Replaces the intervals and verdicts of `comparison`, which has one point, by those of the look
/// with this boundary: each measure on its own keeps the error rate of the test. Without a boundary
/// nothing is decided. `records` are those of both sides.
pub fn judge_look(comparison: &mut RunComparison, boundary: Option<&Boundary>, records: &[&RunRecord]) {
    let is_confounded = !comparison.background.is_empty();
    let margin_pct = comparison.margin_pct;
    let [point] = comparison.points.as_mut_slice() else { return };
    for compared in &mut point.measures {
        let Some(overall) = comparison.overall.iter_mut().find(|o| o.measure == compared.measure) else {
            continue;
        };
        // No test is needed where both sides are nearly zero.
        if nothing(compared) || compared.verdict == ComparisonVerdict::OneRunEach {
            continue;
        }
        let ratio = boundary.and_then(|boundary| boundary.ratio(&compared.a_runs, &compared.b_runs));
        let run_scoped = is_run_scoped(&compared.measure, records.iter());
        let verdict = ratio.map_or(ComparisonVerdict::Unsure, |ratio| {
            let verdict = judge(
                &evidence(compared, ratio, run_scoped),
                better(&compared.measure, compared.unit),
                margin_pct,
            );
            if is_confounded { verdict.confounded() } else { verdict }
        });
        (compared.verdict, overall.verdict) = (verdict, verdict);
        compared.interval_pct = ratio.filter(|_| compared.difference_pct.is_some()).map(interval_pct);
        overall.interval_pct = compared.interval_pct;
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
