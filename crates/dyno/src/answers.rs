//! Answers of related runs: one for each side of a comparison, and one for each curve of other runs.

use dyno_analyze::answer::CurveSummaries;
use dyno_analyze::conclusion::{Conclusion, ConclusionFigures};
use dyno_analyze::points;
use dyno_record::RunRecord;

/// Answers for the records of a command, or for chosen records; `conclusions` state what they are.
pub(crate) fn for_records(records: &[RunRecord], conclusions: &[Conclusion]) -> CurveSummaries {
    match conclusions {
        [Conclusion { figures: ConclusionFigures::Ab(_), .. }] => for_sides(&sides(records)),
        [Conclusion { figures: ConclusionFigures::Search(search), .. }] => search.summaries(&points(records)),
        _ => CurveSummaries::of(&points(records)),
    }
}

pub(crate) fn for_sides(sides: &[(String, Vec<RunRecord>)]) -> CurveSummaries {
    CurveSummaries::of_sides(
        sides.iter().map(|(name, records)| (name.as_str(), CurveSummaries::of(&points(records)))),
    )
}

/// The records of an A/B test by side.
pub(crate) fn sides(records: &[RunRecord]) -> Vec<(String, Vec<RunRecord>)> {
    let mut sides: Vec<(String, Vec<RunRecord>)> = Vec::new();
    for record in records {
        let side = record.part_of.as_ref().and_then(|part| part.side.clone()).unwrap_or_default();
        match sides.iter_mut().find(|(known, _)| *known == side) {
            Some((_, own)) => own.push(record.clone()),
            None => sides.push((side, vec![record.clone()])),
        }
    }
    sides.sort_by(|a, b| a.0.cmp(&b.0));
    sides
}
