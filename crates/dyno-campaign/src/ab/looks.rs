//! The looks of a sequential A/B test: whether it is decided, and whether it still can be.

use dyno_analyze::compare::ComparisonSide;
use dyno_analyze::compare::look::judge_look;
use dyno_analyze::compare::ratio::MedianRatio;
use dyno_analyze::conclusion::{SequentialLook, SequentialResult, SequentialStop};
use dyno_analyze::sequential::{ALPHA, Boundary, SequentialOutlook, SequentialPlan};
use dyno_analyze::side_by_side::side_by_side_at_look;
use dyno_analyze::{ComparisonVerdict, compare::OverallComparison};
use dyno_record::RunRecord;

use crate::compare::{ComparisonResult, ComparisonSettings};

/// The runs of each side, with the names of the sides.
pub(super) type SideRuns = [(String, Vec<RunRecord>)];

/// The looks that a test has made.
pub(super) struct SequentialLooks {
    plan: SequentialPlan,
    planned: Vec<u32>,
    made: Vec<SequentialLook>,
    /// The part of the error rate that the looks have used.
    spent: f64,
    /// The boundary of the last look; absent before the first, and where no result could decide.
    boundary: Option<Boundary>,
    stop: Option<SequentialStop>,
    detectable_pct: Option<f64>,
}

impl SequentialLooks {
    /// The looks of a test with at most `pairs_max` pairs, none of them made.
    pub(super) fn new(pairs_max: u32) -> Self {
        let plan = SequentialPlan { pairs_max };
        let (made, detectable_pct) = (Vec::new(), None);
        Self { plan, planned: plan.looks(), made, spent: 0.0, boundary: None, stop: None, detectable_pct }
    }

    /// The fewest pairs after which the test can stop.
    pub(super) fn first(&self) -> u32 {
        self.planned.first().copied().unwrap_or(self.plan.pairs_max)
    }

    /// Whether a look has ended the test.
    pub(super) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Looks at the runs after `pairs` pairs, if that is planned.
    pub(super) fn look(&mut self, pairs: u32, sides: &SideRuns, judge: &ComparisonSettings) {
        if !self.planned.contains(&pairs) {
            return;
        }
        let is_last = pairs >= self.plan.pairs_max;
        let answer = judge.answers(sides).pop();
        self.boundary =
            answer.as_ref().and_then(|answer| self.plan.boundary(pairs, answer.comparison.runs, self.spent));
        if let (Some(mut answer), Some(boundary)) = (answer, self.boundary) {
            self.spent += boundary.level;
            judge_at_look(&mut answer, Some(&boundary), sides, judge);
            let leading = answer.comparison.overall.iter().find(|overall| overall.points > 0).cloned();
            self.made.push(SequentialLook {
                pairs,
                level: boundary.level,
                p: leading.as_ref().and_then(|leading| leading.p),
                difference_pct: leading.as_ref().and_then(|leading| leading.difference_pct),
                interval_pct: leading.as_ref().and_then(|leading| leading.interval_pct),
            });
            self.stop = self.reason(&answer, leading.as_ref(), (pairs, boundary.level));
        }
        if is_last && self.stop.is_none() {
            self.stop = Some(SequentialStop::PairsMax);
        }
    }

    /// Why the test stops at this look; absent if it goes on.
    fn reason(
        &mut self,
        answer: &ComparisonResult,
        leading: Option<&OverallComparison>,
        (pairs, level): (u32, f64),
    ) -> Option<SequentialStop> {
        let leading = leading.filter(|_| answer.comparison.points.len() == 1)?;
        let margin_pct = answer.comparison.margin_pct;
        let outlook = middle_and_ends(leading)
            .map(|ratio| SequentialOutlook::new(self.plan, pairs, ratio, (level, self.spent), margin_pct));
        self.detectable_pct = outlook.map(|outlook| outlook.detectable_pct);
        match leading.verdict {
            ComparisonVerdict::Confounded | ComparisonVerdict::OthersHadPart => {
                Some(SequentialStop::Confounded)
            }
            // Gates are the question where there are any: each has its own limit.
            _ if !answer.gates.is_empty() => {
                answer.gates.iter().all(|gate| gate.certain).then_some(SequentialStop::Decided)
            }
            ComparisonVerdict::Unsure | ComparisonVerdict::OneRunEach => {
                let is_futile =
                    pairs < self.plan.pairs_max && outlook.is_some_and(|outlook| outlook.is_futile());
                is_futile.then_some(SequentialStop::Undecidable)
            }
            _ => Some(SequentialStop::Decided),
        }
    }

    /// Judges the runs of the whole test as its last look did. A test that ended between two looks decides
    /// nothing.
    pub(super) fn conclude(
        &self,
        answer: &mut ComparisonResult,
        sides: &SideRuns,
        judge: &ComparisonSettings,
    ) -> SequentialResult {
        let boundary = self.boundary.filter(|_| self.has_stopped());
        judge_at_look(answer, boundary.as_ref(), sides, judge);
        if let [a, b] = sides {
            let (a, b) = (side_of(a), side_of(b));
            answer.side_by_side = side_by_side_at_look(&a, &b, &answer.comparison, boundary.as_ref());
        }
        self.result()
    }

    /// The looks, and why the test stopped.
    pub(super) fn result(&self) -> SequentialResult {
        SequentialResult {
            alpha: ALPHA,
            pairs_max: self.plan.pairs_max,
            planned: self.planned.clone(),
            looks: self.made.clone(),
            stop: self.stop.unwrap_or(SequentialStop::Interrupted),
            detectable_pct: self.detectable_pct,
        }
    }
}

fn side_of((name, records): &(String, Vec<RunRecord>)) -> ComparisonSide<'_> {
    ComparisonSide { name: name.clone(), records: records.iter().collect() }
}

/// The ratio of a measure with its interval; absent where it has none.
fn middle_and_ends(overall: &OverallComparison) -> Option<MedianRatio> {
    let ratio = |pct: f64| 1.0 + pct / 100.0;
    let (low, high) = overall.interval_pct?;
    Some(MedianRatio { ratio: ratio(overall.difference_pct?), low: ratio(low), high: ratio(high) })
}

/// Judges a comparison, that of each target, and the gates by the boundary of one look.
fn judge_at_look(
    answer: &mut ComparisonResult,
    boundary: Option<&Boundary>,
    sides: &SideRuns,
    judge: &ComparisonSettings,
) {
    let records: Vec<&RunRecord> = sides.iter().flat_map(|(_, runs)| runs).collect();
    judge_look(&mut answer.comparison, boundary, &records);
    for target in &mut answer.targets {
        judge_look(target, boundary, &records);
    }
    answer.gates = judge.check_gates(&answer.comparison);
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{Metric, Unit};

    use super::*;

    /// The runs of a side with these operations per second.
    fn side(name: &str, ops_per_s: &[f64]) -> (String, Vec<RunRecord>) {
        let run = |(number, &value): (usize, &f64)| {
            let mut record = fixture::sqlite();
            record.id = format!("{name}-{number}");
            record.metrics.insert("ops_per_s".into(), Metric::Value { value, unit: Unit::PerSecond });
            record
        };
        (name.to_owned(), ops_per_s.iter().enumerate().map(run).collect())
    }

    /// Looks after each pair until the test stops.
    fn test(a: &[f64], b: &[f64], gates: &[&str]) -> (SequentialResult, ComparisonResult) {
        let gates: Vec<String> = gates.iter().map(|gate| (*gate).to_owned()).collect();
        let judge = ComparisonSettings::new(&["ops_per_s".to_owned()], 2.0, &gates).unwrap();
        let mut looks = SequentialLooks::new(a.len() as u32);
        let mut pairs = 0;
        while !looks.has_stopped() && pairs < a.len() {
            pairs += 1;
            looks.look(pairs as u32, &[side("a", &a[..pairs]), side("b", &b[..pairs])], &judge);
        }
        let sides = [side("a", &a[..pairs]), side("b", &b[..pairs])];
        let mut answer = judge.answers(&sides).pop().unwrap();
        (looks.conclude(&mut answer, &sides, &judge), answer)
    }

    const STEADY: [f64; 10] = [1000.0, 1004.0, 996.0, 1002.0, 998.0, 1003.0, 997.0, 1001.0, 999.0, 1000.5];

    fn times(factor: f64) -> Vec<f64> {
        STEADY.iter().map(|ops| ops * factor + 0.1).collect()
    }

    #[test]
    fn clear_difference_stops_at_first_look() {
        let (result, answer) = test(&STEADY, &times(1.2), &[]);
        assert_eq!((result.stop, result.looks.len()), (SequentialStop::Decided, 1));
        assert_eq!((result.looks[0].pairs, result.planned.as_slice()), (6, [6, 8, 10].as_slice()));
        assert!(result.looks[0].p.unwrap() <= result.looks[0].level);
        assert!(result.looks[0].level < 0.02);
        let overall = &answer.comparison.overall[0];
        assert_eq!(overall.verdict, ComparisonVerdict::Faster);
        assert_eq!(answer.comparison.points[0].measures[0].verdict, ComparisonVerdict::Faster);
        let (low, high) = overall.interval_pct.unwrap();
        assert!(low > 18.0, "{low} {high}");
        assert!(high < 22.0, "{low} {high}");
        assert!(low < 20.0, "{low} {high}");
        assert!(high > 20.0, "{low} {high}");
    }

    #[test]
    fn table_rows_have_interval_and_verdict_of_the_look() {
        use dyno_analyze::side_by_side::TableGroup;
        let (_, answer) = test(&STEADY, &times(1.2), &[]);
        let overall = &answer.comparison.overall[0];
        let row = &answer.side_by_side.rows(TableGroup::Measures)[0];
        assert_eq!((row.interval_pct, row.verdict), (overall.interval_pct, overall.verdict));
        assert!(answer.comparison.over_looks);
        assert!(answer.side_by_side.over_looks);
        assert_eq!(answer.comparison.interval_words(), "95 % over all looks");
    }

    #[test]
    fn equal_sides_stop_as_equal_and_hopeless_ones_as_undecidable() {
        let (result, answer) = test(&STEADY, &times(1.0), &[]);
        assert_eq!(result.stop, SequentialStop::Decided);
        assert_eq!(answer.comparison.overall[0].verdict, ComparisonVerdict::Same);
        let noisy = [700.0, 1300.0, 900.0, 1200.0, 800.0, 1100.0, 1000.0, 950.0, 1050.0, 1250.0];
        let mut mirrored = noisy;
        mirrored.reverse();
        let (result, answer) = test(&noisy, &mirrored, &[]);
        assert_eq!((result.stop, result.looks.len()), (SequentialStop::Undecidable, 1));
        assert!(result.detectable_pct.unwrap() > 10.0, "{result:?}");
        assert_eq!(answer.comparison.overall[0].verdict, ComparisonVerdict::Unsure);
    }

    #[test]
    fn gate_is_certain_only_where_its_whole_interval_decides() {
        // Two pairs look clear and decide nothing: the least p of so few ranks is 0.33.
        let (result, answer) = test(&STEADY[..2], &times(1.2)[..2], &["ops_per_s >= -3%"]);
        assert_eq!((result.stop, result.looks.len()), (SequentialStop::PairsMax, 0));
        assert!(!answer.gates[0].certain);
        assert!(answer.comparison.overall[0].interval_pct.is_none());
        let (result, answer) = test(&STEADY, &times(1.0), &["ops_per_s >= -3%"]);
        assert_eq!(result.stop, SequentialStop::Decided);
        assert!(answer.gates[0].certain);
        assert!(answer.gates[0].holds);
    }

    #[test]
    fn test_that_ends_between_looks_decides_nothing() {
        let judge = ComparisonSettings::new(&["ops_per_s".to_owned()], 2.0, &[]).unwrap();
        let sides = [side("a", &STEADY[..5]), side("b", &times(1.5)[..5])];
        let mut answer = judge.answers(&sides).pop().unwrap();
        assert_eq!(answer.comparison.overall[0].verdict, ComparisonVerdict::Faster, "without looks");
        let result = SequentialLooks::new(10).conclude(&mut answer, &sides, &judge);
        assert_eq!(result.stop, SequentialStop::Interrupted);
        assert_eq!(answer.comparison.overall[0].verdict, ComparisonVerdict::Unsure);
    }
}
