//! The looks of a sequential A/B test: whether it is decided, and whether it still can be.

use dyno_analyze::compare::look::judge_look;
use dyno_analyze::compare::ratio::MedianRatio;
use dyno_analyze::conclusion::{SequentialLook, SequentialResult, SequentialStop};
use dyno_analyze::sequential::{ALPHA, Boundary, SequentialOutlook, SequentialPlan};
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

    /// Whether the test stops.
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
