//! What the rules of next steps ask about a comparison of capacity with use.

use dyno_record::{RecordKind, RunRecord};

use super::{CapacityRow, DAYS_MIN, too_short};
use crate::conclusion::suite::TEST;
use crate::next::{CapacityEvidence, MeasuredLimit, NextStep, SuiteRerun, after_capacity};

/// The steps after the comparison with these `rows`, the fullest of the known limits first.
pub(super) fn steps(
    rows: &[CapacityRow],
    differ: &[String],
    measured: &[RunRecord],
    use_of: &[RunRecord],
) -> Vec<NextStep> {
    let limit = |row: &CapacityRow| {
        let run = measured.iter().find(|record| record.id == row.ceiling.run);
        let settings = run.and_then(|run| run.part_of.as_ref()).map(|part| part.settings.as_slice());
        let test = settings.unwrap_or_default().iter().find(|setting| setting.key == TEST);
        MeasuredLimit {
            part: row.part.clone(),
            peak_pct: row.fullness(),
            test: test.map(|setting| setting.value.clone()),
            sessions: run.map_or(1, |run| run.gate.sessions),
        }
    };
    let fullest_known = rows.iter().filter(|row| row.is_sure()).map(CapacityRow::fullness).reduce(f64::max);
    let unsure = rows.iter().filter(|row| !row.is_sure() && row.fullness() >= fullest_known.unwrap_or(0.0));
    let unsure = unsure.max_by(|a, b| a.fullness().total_cmp(&b.fullness()));
    let left = rows.iter().filter_map(|row| Some((row, row.growth.days_to_limit()?)));
    let soonest = left.min_by(|a, b| a.1.days.total_cmp(&b.1.days));
    let watch = use_of.iter().rev().find(|record| record.kind == RecordKind::Watch);
    after_capacity(&CapacityEvidence {
        short_use: if rows.is_empty() { None } else { too_short(rows) },
        days_min: DAYS_MIN,
        watch: watch.map(|record| (record.options.clone(), record.series.interval_s)),
        unsure: unsure.map(limit),
        soonest: soonest.map(|(row, left)| (limit(row), left.days, left.words())),
        differs: differ.first().cloned(),
        is_empty: rows.is_empty(),
        again: SuiteRerun {
            options: measured.first().map(|record| record.options.clone()).unwrap_or_default(),
            ..SuiteRerun::default()
        },
    })
}
