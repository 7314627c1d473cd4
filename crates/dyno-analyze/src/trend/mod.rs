//! Trend: how one measure developed over a history of runs of the same plan.
//!
//! Changes come from E-Divisive ([`edivisive`]). A slow drift has no single moment; it comes from
//! Kendall's rank test of the runs since the last change, with its slope by Theil and Sen.

pub mod drift;
pub mod edivisive;
mod gate;

use dyno_plan::keys;
use dyno_record::{RunId, RunRecord, Unit};
use serde::Serialize;

use crate::attribution::{MetricAttributions, is_marked, legend, marked_metrics};
use crate::compare::ratio::median;
use crate::compare::{better, difference_pct};
use crate::differences::{Area, ConfigDifference, differ, has_effect};
use crate::number::{count, figure as shown, fixed};
use crate::points::{Better, Measure, figure, notes_of};
pub use drift::Drift;
pub use edivisive::{ChangePoint, ChangePointOptions, changes};

/// One run of the history.
#[derive(Debug, Clone, Serialize)]
pub struct TrendPoint {
    pub run: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    pub value: f64,
    /// Whether it may include other load on this host or server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
}

/// A change in the history.
#[derive(Debug, Clone, Serialize)]
pub struct TrendChange {
    /// The first run after the change: its place in [`Trend::points`].
    pub at: usize,
    /// Id of the first run after the change.
    pub run: RunId,
    /// Start of that run, RFC 3339 in UTC.
    pub started_at: String,
    /// Median of the runs between the change before and this one.
    pub before: f64,
    /// Median of the runs from this change to the next.
    pub after: f64,
    /// Difference of the two medians, %; absent where the first was nearly zero.
    pub difference_pct: Option<f64>,
    /// Probability of such a change if the runs are in random order.
    pub p: f64,
    /// Whether it was an improvement; absent where the measure has no direction, or may include
    /// other load.
    pub improved: Option<bool>,
    /// Whether any of the runs before or after it includes background activity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// What else changed between the last run before and the first run after it, the most relevant
    /// first: what may have caused the change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differed: Vec<ConfigDifference>,
}

/// The development of a measure.
#[derive(Debug, Clone, Serialize)]
pub struct Trend {
    /// The measure, for example `ops_per_s`.
    pub measure: String,
    /// Its unit; absent where no run has the measure.
    pub unit: Option<Unit>,
    /// The runs, the oldest first.
    pub points: Vec<TrendPoint>,
    /// The changes, the oldest first.
    pub changes: Vec<TrendChange>,
    /// The drift since the last change; absent with too few runs.
    pub drift: Option<Drift>,
    /// The largest probability that counted as significant.
    pub significance: f64,
    /// The legend of the mark, where any of the runs' figures includes background activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
    /// The notes that the runs' workloads require.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Runs that have no result or lack the measure, with the reason.
    pub left_out: Vec<(RunId, String)>,
}

/// The format of records that come from databases' own reports.
const REPORTS: &str = "awr";

/// Labels that identify the database of such a record. The other labels are times, snapshots and
/// the platform; a history shows the development over these.
const WHO: [&str; 5] = ["report_type", "db_name", "dbid", "instance", "inst_num"];

/// What runs of one history have in common: target, variant, and every plan key that affects a run.
pub fn history_of(record: &RunRecord) -> Vec<(String, String)> {
    let keys = keys::all().filter(|key| has_effect(key.path) && record.knows(key.path));
    let plan = keys.map(|key| (key.path.to_owned(), key.get(&record.plan).unwrap_or_default()));
    let targets = record.targets.iter().map(|target| ("target".to_owned(), target.url.clone()));
    let version_entry = record.workload_version().map(|version| ("workload.version".to_owned(), version));
    let variant = record.variant.iter().map(|variant| ("variant".to_owned(), variant.clone()));
    let labels = record.imported.iter().flat_map(|from| {
        let labels =
            from.labels.iter().filter(|(name, _)| from.format != REPORTS || WHO.contains(&name.as_str()));
        labels.map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    });
    plan.chain(targets).chain(version_entry).chain(variant).chain(labels).collect()
}

/// Default measures of a history: the first that a run has. Reports of databases do not count
/// operations.
const LEADING: [&str; 4] =
    ["ops_per_s", "logical_reads_per_s", "physical_read_requests_per_s", "database_active_sessions"];

/// The default measure for `records`.
pub fn leading_measure(records: &[&RunRecord]) -> &'static str {
    let is_measured = |measure: &&str| records.iter().any(|record| figure(record, measure).is_some());
    LEADING.into_iter().find(is_measured).unwrap_or(LEADING[0])
}

/// The trend of `measure` over `records`, which may be in any order.
pub fn trend(records: &[&RunRecord], measure: &str, search: &ChangePointOptions) -> Trend {
    let mut sorted: Vec<&RunRecord> = records.to_vec();
    sorted.sort_by(|x, y| x.started_at.cmp(&y.started_at).then_with(|| x.id.cmp(&y.id)));
    let (mut points, mut left_out, mut unit) = (Vec::new(), Vec::new(), None);
    let mut measured: Vec<&RunRecord> = Vec::new();
    for record in sorted {
        match (record.status, figure(record, measure)) {
            (status, Some((value, its_unit))) if status.counts() && value.is_finite() => {
                unit = Some(its_unit);
                measured.push(record);
                points.push(TrendPoint {
                    run: record.id.clone(),
                    started_at: record.started_at.clone(),
                    value,
                    marked: is_marked(record, measure),
                });
            }
            (status, _) if status.counts() => {
                left_out.push((record.id.clone(), format!("it has no {measure}")));
            }
            (status, _) => left_out.push((record.id.clone(), status.name().to_owned())),
        }
    }
    let background_legend = legend(&sorted_marks(records), |name| name == measure);
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let splits = changes(&values, search);
    let better = unit.map_or(Better::Neither, |unit| better(measure, unit));
    let changes: Vec<TrendChange> = (0..splits.len())
        .map(|i| TrendChange {
            differed: differed(&measured, splits[i].at),
            ..change(&splits, i, &points, unit.unwrap_or(Unit::Count), better)
        })
        .collect();
    let since = changes.last().map_or(0, |change| change.at);
    let drift = drift::drift(&values[since..]);
    Trend {
        measure: measure.to_owned(),
        unit,
        points,
        changes,
        drift,
        significance: search.significance,
        others: background_legend,
        notes: notes_of(records.iter().copied()),
        left_out,
    }
}

fn sorted_marks(records: &[&RunRecord]) -> Vec<MetricAttributions> {
    records.iter().map(|record| marked_metrics(record)).collect()
}

/// What differs between the run at `at` and the one before it. Where the version differs, defaults that
/// differ follow from it.
fn differed(runs: &[&RunRecord], at: usize) -> Vec<ConfigDifference> {
    let mut differed = differ(&runs[at - 1..at], &runs[at..=at]);
    if differed.iter().any(|difference| difference.area == Area::Database) {
        differed.retain(|difference| difference.area != Area::DefaultSetting);
    }
    differed
}

fn change(
    splits: &[ChangePoint],
    i: usize,
    points: &[TrendPoint],
    unit: Unit,
    better: Better,
) -> TrendChange {
    let begin = if i == 0 { 0 } else { splits[i - 1].at };
    let at = splits[i].at;
    let end = splits.get(i + 1).map_or(points.len(), |next| next.at);
    let level = |of: &[TrendPoint]| median(&mut of.iter().map(|point| point.value).collect::<Vec<_>>());
    let (before, after) = (level(&points[begin..at]), level(&points[at..end]));
    let marked = points[begin..end].iter().any(|point| point.marked);
    TrendChange {
        at,
        run: points[at].run.clone(),
        started_at: points[at].started_at.clone(),
        before,
        after,
        difference_pct: difference_pct(unit, before, after),
        p: splits[i].p,
        differed: Vec::new(),
        marked,
        improved: match better {
            _ if marked => None,
            Better::Higher => Some(after > before),
            Better::Lower => Some(after < before),
            Better::Neither => None,
        },
    }
}

impl TrendChange {
    /// What changed with it: `with it changed shared_buffers 128MB → 1GB and 2 more`.
    pub fn differed_words(&self) -> String {
        let named: Vec<String> =
            self.differed.iter().take(NAMED_MAX).map(ConfigDifference::change_words).collect();
        match self.differed.len().saturating_sub(NAMED_MAX) {
            _ if named.is_empty() => "no setting or version that Dyno records changed with it".to_owned(),
            0 => format!("with it changed {}", named.join(", ")),
            more => format!("with it changed {}, and {more} more", named.join(", ")),
        }
    }
}

impl Trend {
    /// The history in sentences: each change, then the drift since the last one.
    pub fn words(&self) -> Vec<String> {
        let unit = &self.unit_words();
        let mut words: Vec<String> =
            self.changes.iter().map(|change| self.change_words(change, unit)).collect();
        let runs = self.points.len();
        if words.is_empty() {
            words.push(match runs {
                0 => format!("no run has {}", self.measure),
                1 => format!("1 run is too few to tell a change from chance: make at least {RUNS_MIN}"),
                n if n < RUNS_MIN => {
                    format!("{n} runs are too few to tell a change from chance: make at least {RUNS_MIN}")
                }
                n => format!(
                    "no change seen in {} runs ({}): a smaller change than that may be missed",
                    count(n as u64),
                    self.spread()
                ),
            });
        }
        words.extend(self.drift.as_ref().filter(|drift| drift.p <= self.significance).map(|drift| {
            let way = if drift.total_pct > 0.0 { "up" } else { "down" };
            let since = if self.changes.is_empty() { "over" } else { "since the last change, over" };
            format!(
                "drifts {way}: {} % {since} {} runs (p {})",
                percent(drift.total_pct),
                drift.runs,
                chance(drift.p)
            )
        }));
        words
    }

    /// The unit as shown: `operations/s` where the unit of the record only says that it is a rate.
    pub fn unit_words(&self) -> String {
        match (self.unit, Measure::find(&self.measure)) {
            (Some(Unit::PerSecond), Some(measure)) => format!("{}/s", measure.label),
            (Some(Unit::PerSecond), None) => "/s".to_owned(),
            (Some(Unit::Microseconds), _) => "µs".to_owned(),
            (unit, _) => unit.map_or("", Unit::name).to_owned(),
        }
    }

    fn change_words(&self, change: &TrendChange, unit: &str) -> String {
        let verdict = match change.improved {
            Some(true) => "better",
            Some(false) => "worse",
            None if change.marked => "changed, with other load included,",
            None => "changed",
        };
        let difference_text =
            change.difference_pct.map_or_else(String::new, |by| format!(", {} %", percent(by)));
        format!(
            "{verdict} from {} on ({}): {} → {} {unit}{difference_text} (p {}); {}",
            change.run,
            change.started_at.get(..16).unwrap_or(&change.started_at).replace('T', " "),
            shown(change.before),
            shown(change.after),
            chance(change.p),
            change.differed_words()
        )
    }

    /// The spread of the runs around their median.
    fn spread(&self) -> String {
        let mut values: Vec<f64> = self.points.iter().map(|point| point.value).collect();
        let middle = median(&mut values);
        let furthest = values.iter().map(|value| (value - middle).abs()).fold(0.0, f64::max);
        match middle != 0.0 {
            true => {
                format!("all within ± {} % of {}", fixed(100.0 * furthest / middle.abs(), 1), shown(middle))
            }
            false => "median 0".to_owned(),
        }
    }
}

/// Most causes that a change names.
const NAMED_MAX: usize = 3;

/// Fewest runs for a split that is significant at 2 %: of nine runs in random order, one in 63
/// splits is the best one.
const RUNS_MIN: usize = 9;

/// A difference with its sign: `-3.2`, `+0.4`.
fn percent(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", fixed(value, 1))
}

/// A probability: `0.004`, `< 0.001`.
fn chance(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { fixed(p, 3) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::GateOutcome;
    use crate::fixture;
    use dyno_record::Metric;

    fn history(values: &[f64]) -> Vec<RunRecord> {
        let run = |(i, &value): (usize, &f64)| {
            let mut record = fixture::postgres();
            record.id = format!("202603{:02}-000000-0000", i + 1);
            record.started_at = format!("2026-03-{:02}T00:00:00.000000Z", i + 1);
            record.metrics.insert("ops_per_s".into(), Metric::Value { value, unit: Unit::PerSecond });
            record.metrics.insert("service_p99_us".into(), Metric::Value { value, unit: Unit::Microseconds });
            record
        };
        values.iter().enumerate().map(run).collect()
    }

    fn follow(values: &[f64], measure: &str) -> Trend {
        let records = history(values);
        // The order of time counts, not the order given.
        let shuffled: Vec<&RunRecord> = records.iter().rev().collect();
        trend(&shuffled, measure, &ChangePointOptions::default())
    }

    #[test]
    fn gate_judges_the_latest_change_of_enough_runs() {
        let outcome =
            |values: &[f64], gate: &str| follow(values, "ops_per_s").gate_outcome(&gate.parse().unwrap());
        let (failed, why) = outcome(&STEP, "ops_per_s >= -5%");
        assert_eq!(failed, GateOutcome::Failed);
        assert_eq!(why, "-16.0 % since 20260307-000000-0000");
        assert_eq!(outcome(&STEP, "ops_per_s >= -20%").0, GateOutcome::Passed);
        assert_eq!(outcome(&STEP, "ops_per_s <= 5%").0, GateOutcome::Passed);
        assert_eq!(outcome(&STEP[..6], "ops_per_s >= -5%").0, GateOutcome::NotDecided, "too few runs");
        assert_eq!(outcome(&[STEP[0]; 12], "ops_per_s >= -5%").0, GateOutcome::Passed, "no change");
    }

    const STEP: [f64; 12] =
        [5000.0, 5010.0, 4990.0, 5005.0, 4995.0, 5002.0, 4200.0, 4210.0, 4190.0, 4205.0, 4195.0, 4198.0];

    #[test]
    fn trend_change_is_described_in_words() {
        let trend = follow(&STEP, "ops_per_s");
        assert_eq!(trend.changes.len(), 1);
        let words = &trend.words()[0];
        assert!(
            words.starts_with(
                "worse from 20260307-000000-0000 on (2026-03-07 00:00): 5,001 → 4,199 operations/s, -16.0 %"
            ),
            "{words}"
        );
        assert!(words.ends_with("; no setting or version that Dyno records changed with it"), "{words}");
        assert_eq!(follow(&STEP, "service_p99_us").changes[0].improved, Some(true), "less latency is better");
    }

    #[test]
    fn trend_change_names_what_changed_with_it() {
        let mut records = history(&STEP);
        let identity_before = records[0].targets[0].identity.clone();
        for record in &mut records[6..] {
            record.targets[0].identity.version = "18.9".into();
            for name in ["a_setting", "b_setting", "c_setting"] {
                record.targets[0].identity.settings.insert(name.into(), "on".into());
                record.targets[0].identity.non_default.push(name.into());
            }
        }
        // A later change has nothing to do with it.
        records[9].hosts[0].kernel = "7.1.0".into();
        let trend = trend(&records.iter().collect::<Vec<_>>(), "ops_per_s", &ChangePointOptions::default());
        let words = &trend.words()[0];
        let expected = "→ 18.9, a_setting – → on, b_setting – → on, and 1 more";
        assert!(words.contains("with it changed version "), "{words}");
        assert!(words.ends_with(expected), "{words}");
        assert_eq!(trend.changes[0].differed.len(), 4, "{:?}", trend.changes[0].differed);
        // A default that changed without the version is no consequence of it.
        for record in &mut records[6..] {
            record.targets[0].identity = identity_before.clone();
            record.targets[0].identity.settings.insert("chosen_by_server".into(), "2".into());
        }
        let records: Vec<&RunRecord> = records.iter().collect();
        let words = &super::trend(&records, "ops_per_s", &ChangePointOptions::default()).words()[0];
        assert!(words.ends_with("; with it changed chosen_by_server – → 2"), "{words}");
    }

    #[test]
    fn history_is_shuffled_alike_wherever_it_is_shown() {
        assert_eq!(ChangePointOptions::for_history(300).shuffles, 999);
        assert_eq!(ChangePointOptions::for_history(301).shuffles, 199);
    }

    #[test]
    fn invalid_runs_are_left_out_of_trend_with_reason() {
        let mut records = history(&STEP);
        records[3].status = dyno_record::Status::Invalid;
        records[4].metrics.remove("ops_per_s");
        records[4].ops.clear();
        let trend = trend(&records.iter().collect::<Vec<_>>(), "ops_per_s", &ChangePointOptions::default());
        assert_eq!((trend.points.len(), trend.left_out.len()), (10, 2));
        assert!(trend.left_out[1].1.contains("no ops_per_s"));
    }

    #[test]
    fn trend_reports_too_few_runs_and_no_change() {
        assert!(follow(&STEP[..3], "ops_per_s").words()[0].contains("too few"));
        let words =
            follow(&[100.0, 101.0, 99.0, 100.0, 100.5, 99.5, 100.2, 100.0, 99.9, 100.1], "ops_per_s").words();
        assert_eq!(
            words,
            [
                "no change seen in 10 runs (all within ± 1.0 % of 100): a smaller change than that may be missed"
            ]
        );
    }

    #[test]
    fn trend_history_is_keyed_by_plan_and_target() {
        let a = fixture::postgres();
        let mut b = a.clone();
        b.plan.workload.seed = Some(99);
        assert_eq!(history_of(&a), history_of(&b));
        b.plan.workload.work_unit = 1;
        assert_ne!(history_of(&a), history_of(&b));
    }
}
