//! The answers of runs that belong together: those of a comparison side by side, all others curve by curve.

use dyno_analyze::answer::Answers;
use dyno_analyze::conclusion::{Conclusion, Figures};
use dyno_analyze::points;
use dyno_record::RunRecord;

/// Of records that a command made or that were chosen, of which `conclusions` tell what they are.
pub(crate) fn of(records: &[RunRecord], conclusions: &[Conclusion]) -> Answers {
    match conclusions {
        [Conclusion { figures: Figures::Ab(_), .. }] => of_sides(&sides(records)),
        _ => Answers::of(&points(records)),
    }
}

/// Of sides with their names.
pub(crate) fn of_sides(sides: &[(String, Vec<RunRecord>)]) -> Answers {
    Answers::of_sides(sides.iter().map(|(name, records)| (name.as_str(), Answers::of(&points(records)))))
}

/// The records of an A/B comparison by their side.
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
