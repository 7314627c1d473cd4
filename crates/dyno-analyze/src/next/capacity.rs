//! Steps after `dyno capacity`: more use for a trend, and limits that were not reached.

use super::suite_rerun::{SuiteRerun, with_command};
use super::{FoundStep, NextRule, NextStep, chosen, completed};
use crate::number::{percent, span_s};

/// A limit that is reached within this many days is near.
const NEAR_DAYS: f64 = 365.0;

const CAPACITY: &str = "docs/guides/capacity.md";

#[derive(Debug, Clone, Default)]
pub(crate) struct CapacityEvidence {
    /// Length of the use, s, and its days, if these are too few for a trend.
    pub(crate) short_use: Option<(f64, usize)>,
    /// Fewest days for a trend.
    pub(crate) days_min: usize,
    /// Options of the latest watch in the use, and its interval, s; absent where only reports are in it.
    pub(crate) watch: Option<(Vec<String>, f64)>,
    /// The component whose limit is not shown to be one, with the most use of it, %, and where it was measured.
    pub(crate) unsure: Option<MeasuredLimit>,
    /// The component that reaches its limit first, with days to it, and these in words.
    pub(crate) soonest: Option<(MeasuredLimit, f64, String)>,
    /// The first difference between both platforms.
    pub(crate) differs: Option<String>,
    /// Whether no component can be compared.
    pub(crate) is_empty: bool,
    /// How the measured runs are made again.
    pub(crate) again: SuiteRerun,
}

/// Where the limit of a component was measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct MeasuredLimit {
    pub(crate) part: String,
    /// Present use at its peak, % of the limit.
    pub(crate) peak_pct: f64,
    /// Test of a suite; absent for other runs.
    pub(crate) test: Option<String>,
    /// The sessions of that run.
    pub(crate) sessions: u32,
}

type CapacityRule = NextRule<fn(&CapacityEvidence) -> Option<FoundStep>>;

pub(super) const RULES: &[CapacityRule] = &[
    NextRule {
        name: "capacity_limit_near",
        evidence: "at the trend a component reaches its measured limit within a year",
        source: CAPACITY,
        find: limit_near,
    },
    NextRule {
        name: "capacity_unsure_limit",
        evidence: "the component with the highest share in use was not shown to reach its maximum",
        source: CAPACITY,
        find: unsure_limit,
    },
    NextRule {
        name: "capacity_other_platform",
        evidence: "both sides are of different platforms",
        source: CAPACITY,
        find: other_platform,
    },
    NextRule {
        name: "capacity_longer_use",
        evidence: "use covers too few days for a trend",
        source: CAPACITY,
        find: longer_use,
    },
    NextRule {
        name: "capacity_nothing_compared",
        evidence: "no component can be compared, and both sides are of one platform",
        source: CAPACITY,
        find: nothing_compared,
    },
];

/// The steps after this comparison.
pub(crate) fn after_capacity(capacity: &CapacityEvidence) -> Vec<NextStep> {
    chosen(&[RULES.iter().filter_map(|rule| rule.step((rule.find)(capacity))).collect()])
}

impl CapacityEvidence {
    /// The command that measures the limit more closely.
    fn measure(&self, limit: &MeasuredLimit) -> String {
        match &limit.test {
            Some(test) => self.again.full(std::slice::from_ref(test)),
            None => {
                let loads = [1, 2, 4].map(|times| (limit.sessions.max(1) * times).to_string()).join(",");
                let command = format!("dyno sweep --set sweep.sessions={loads} --set sweep.repeats=3");
                completed(&command, &self.again.options)
            }
        }
    }
}

fn limit_near(capacity: &CapacityEvidence) -> Option<FoundStep> {
    let (limit, _, words) = capacity.soonest.as_ref().filter(|(_, days, _)| *days <= NEAR_DAYS)?;
    let sentence = format!(
        "{} reaches its limit first, in {words}; confirm that limit with long windows and repeats",
        limit.part
    );
    with_command(sentence, capacity.measure(limit))
}

fn unsure_limit(capacity: &CapacityEvidence) -> Option<FoundStep> {
    let limit = capacity.unsure.as_ref()?;
    let sentence = format!(
        "{} were used up to {} % of a value that may not be the maximum; raise the load until it is",
        limit.part,
        percent(limit.peak_pct)
    );
    with_command(sentence, capacity.measure(limit))
}

fn other_platform(capacity: &CapacityEvidence) -> Option<FoundStep> {
    let differs = capacity.differs.as_ref()?;
    let sentence = format!("measure the capacity of the platform that is in use, or of a copy ({differs})");
    Some((sentence, None))
}

fn longer_use(capacity: &CapacityEvidence) -> Option<FoundStep> {
    let (seconds, days) = capacity.short_use?;
    let more = capacity.days_min.saturating_sub(days).max(1);
    let of_days = |days: usize| format!("{days} {}", if days == 1 { "day" } else { "days" });
    let covered = format!("use covers {} on {}", span_s(seconds), of_days(days));
    match &capacity.watch {
        Some((options, interval_s)) => {
            let interval = dyno_plan::TimeSpan(std::time::Duration::from_secs_f64(interval_s.max(0.001)));
            let sentence =
                format!("{covered}; watch the busiest hours of {} more for a trend", of_days(more));
            let command = format!("dyno watch --time 8h --interval {interval}");
            with_command(sentence, completed(&command, options))
        }
        None => Some((format!("{covered}; import the reports of {} more for a trend", of_days(more)), None)),
    }
}

fn nothing_compared(capacity: &CapacityEvidence) -> Option<FoundStep> {
    (capacity.is_empty && capacity.differs.is_none()).then(|| {
        let sentence = "no figure is known on both sides; a suite of all tests measures every component";
        (sentence.to_owned(), Some(capacity.again.again(&[], "")))
    })
}
