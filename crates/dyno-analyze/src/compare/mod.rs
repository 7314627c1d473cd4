//! Compares two sides: how much each measure differs at each point, and whether that is
//! significant.
//!
//! A side is any set of runs: a run, repeats of it, a sweep, a variant. Runs at the same point are
//! grouped. The difference is that of their medians, in percent of the first side. Significance
//! requires repeats. The rank test ([`rank`]) and the interval of the ratio ([`ratio`]) must agree,
//! and the difference must exceed a stated margin ([`ComparisonVerdict`]). One run each never gives a
//! verdict, however much they differ.

mod align;
mod background;
mod compared;
pub mod gate;
pub mod look;
mod near_zero;
mod overall;
pub mod rank;
pub mod ratio;
mod verdict;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use dyno_plan::keys::{self, PlanKey};
use dyno_record::{AttributionScope, RecordKind, RunRecord, Unit};
use serde::{Deserialize, Serialize};

use crate::attribution::{MetricAttributions, attribution_of, is_marked, legend, marked_metrics};
use crate::differences::{ConfigDifference, differ};
use crate::points::{Better, Estimate, Measure, figure};
use crate::profile::{ProfileComparison, gains};
use crate::varied::{RepeatVariation, varied};
use align::Pair;
pub use background::{Background, BackgroundDifference, background, background_words};
pub(crate) use compared::ComparisonColumn;
use compared::interval_pct;
pub use compared::{ComparisonRules, MARGIN_PCT, MeasureComparison, OverallComparison, PointComparison};
pub use gate::{ComparisonGate, GateError, GateOutcome, GateResult};
pub use near_zero::{difference_pct, is_near_zero};
pub(crate) use overall::{overall, stratified};
use ratio::{RatioDraws, draw_ratio};
pub(crate) use verdict::adjusted;
pub use verdict::{ComparisonVerdict, SIGNIFICANCE};
use verdict::{VerdictEvidence, judge};

/// The measures that are compared by default: load, latency, work in the database, and its costs.
pub const MEASURES_SHOWN: [&str; 11] = [
    "load_rows_per_s",
    "load_durable_rows_per_s",
    "load_redo_bytes_per_row",
    "load_durable_s",
    "ops_per_s",
    "service_mean_us",
    "service_p99_us",
    "logical_reads_per_s",
    "physical_reads_per_s",
    "redo_mb_per_s",
    "cpu_busy_pct",
];

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct ComparisonSide<'r> {
    /// The name that the user gave it.
    pub name: String,
    pub records: Vec<&'r RunRecord>,
}

/// A point that only one side has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnmatchedPoint {
    pub side: String,
    /// The value on each axis.
    pub at: Vec<String>,
}

/// The result of comparing two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    /// Name of the first side, the baseline.
    pub a: String,
    /// Name of the second side, the candidate.
    pub b: String,
    /// Runs of each side that are compared.
    pub runs: (usize, usize),
    /// Differences up to this many percent are not significant.
    pub margin_pct: f64,
    /// Whether intervals and verdicts are those of a look of a sequential test: the intervals of all its looks
    /// together contain the difference in 95 % of all tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_looks: bool,
    /// The axes of the points, for example `sessions`.
    pub axes: Vec<String>,
    /// Points that both sides have.
    pub points: Vec<PointComparison>,
    /// Each measure over all points.
    pub overall: Vec<OverallComparison>,
    /// Points that only one side has.
    pub alone: Vec<UnmatchedPoint>,
    /// The functions whose processor time rose or fell; absent where a side has no profile, or
    /// there are several points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileComparison>,
    /// The legend of the mark, where any of the figures includes background activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
    /// Settings of one side only that make its commits not durable. What it gains by them is no
    /// gain of the platform.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_durable: Vec<String>,
    /// Plan keys that differ and make an operation of one side other work than one of the other: rates of operations
    /// then rank nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unequal_work: Vec<String>,
    /// What qualifies the figures: imported sides, and notes that workloads require.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Background activity that differs between the sides: it confounds every verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundDifference>,
    /// Repeats that differ, and the counters that changed with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<RepeatVariation>,
    /// Runs without a result, with the reason.
    pub left_out: Vec<(String, String)>,
    /// What else differs between the sides, the most relevant first.
    pub differed: Vec<ConfigDifference>,
}

impl RunComparison {
    /// What its intervals cover, in words. The interval of a look is part of the error rate of the whole test.
    pub fn interval_words(&self) -> &'static str {
        if self.over_looks { "95 % over all looks" } else { "95 %" }
    }
}

/// Compares side `b` with side `a`, by `rules`.
pub fn compare(a: &ComparisonSide<'_>, b: &ComparisonSide<'_>, rules: &ComparisonRules) -> RunComparison {
    let mut left_out = Vec::new();
    let mut valid = |side: &ComparisonSide<'_>| -> Vec<usize> {
        let (kept, dropped): (Vec<usize>, Vec<usize>) =
            (0..side.records.len()).partition(|&i| side.records[i].status.counts());
        left_out.extend(dropped.iter().map(|&i| no_result(side.records[i])));
        kept
    };
    let (kept_a, kept_b) = (valid(a), valid(b));
    let records_a: Vec<_> = kept_a.iter().map(|&i| a.records[i]).collect();
    let records_b: Vec<_> = kept_b.iter().map(|&i| b.records[i]).collect();
    let (axes, pairs) = align::align(&records_a, &records_b);
    let (both, one): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs.into_iter().partition(|pair| !pair.a.is_empty() && !pair.b.is_empty());
    let texts = |pair: &Pair<'_>| pair.at.iter().map(|value| value.text.clone()).collect::<Vec<_>>();
    let alone = one.iter().map(|pair| UnmatchedPoint {
        side: if pair.b.is_empty() { a.name.clone() } else { b.name.clone() },
        at: texts(pair),
    });
    let measures = measures(rules, &both);
    let mut columns: Vec<ComparisonColumn> = measures.iter().map(|name| column(name, &both, rules)).collect();
    let background = background::of_pairs(&both);
    let mut overall: Vec<OverallComparison> = columns.iter().map(|column| overall(column, rules)).collect();
    if !background.is_empty() {
        let cells = columns.iter_mut().flat_map(|column| &mut column.compared);
        cells.for_each(|compared| compared.verdict = compared.verdict.confounded());
        overall.iter_mut().for_each(|overall| overall.verdict = overall.verdict.confounded());
    }
    let points = both.iter().enumerate().map(|(i, pair)| PointComparison {
        at: texts(pair),
        measures: columns.iter().map(|column| column.compared[i].clone()).collect(),
    });
    // Profiles of different settings have no mean.
    let profile = match both.as_slice() {
        [only] => gains(&only.a, &only.b),
        _ => None,
    };
    let (not_durable, both_not_durable) = durability((&a.name, &records_a), (&b.name, &records_b));
    RunComparison {
        over_looks: false,
        profile,
        a: a.name.clone(),
        b: b.name.clone(),
        runs: (records_a.len(), records_b.len()),
        margin_pct: rules.margin_pct,
        points: points.collect(),
        overall,
        axes,
        alone: alone.collect(),
        others: others(&records_a, &records_b, &measures),
        notes: background_words(&background, &a.name, &b.name)
            .into_iter()
            .chain(
                [(a, &records_a), (b, &records_b)]
                    .into_iter()
                    .filter_map(|(side, of)| imported(&side.name, of)),
            )
            .chain(not_durable.iter().cloned())
            .chain(both_not_durable)
            .chain(workload_notes(records_a.iter().chain(&records_b)))
            .collect(),
        not_durable,
        unequal_work: unequal_work(&both),
        background,
        varied: both
            .iter()
            .chain(&one)
            .flat_map(|pair| {
                let at = texts(pair);
                [(&a.name, &pair.a), (&b.name, &pair.b)]
                    .into_iter()
                    .filter_map(move |(name, records)| varied(name, &at, records))
            })
            .collect(),
        left_out,
        differed: differ(&records_a, &records_b),
    }
}

/// The runs with a result of both sides, at each point that both sides have.
pub(crate) fn common_points<'r>(
    a: &ComparisonSide<'r>,
    b: &ComparisonSide<'r>,
) -> Vec<(Vec<&'r RunRecord>, Vec<&'r RunRecord>)> {
    let valid = |side: &ComparisonSide<'r>| -> Vec<&'r RunRecord> {
        side.records.iter().filter(|record| record.status.counts()).copied().collect()
    };
    let (_, pairs) = align::align(&valid(a), &valid(b));
    let both = pairs.into_iter().map(|pair| (pair.a, pair.b));
    both.filter(|(a, b)| !a.is_empty() && !b.is_empty()).collect()
}

/// The legend of the mark for the compared measures.
fn others(a: &[&RunRecord], b: &[&RunRecord], measures: &[String]) -> Option<String> {
    let all: Vec<MetricAttributions> = a.iter().chain(b).map(|record| marked_metrics(record)).collect();
    legend(&all, |name| measures.iter().any(|measure| measure == name))
}

/// Settings that make commits not durable: those of one side only, with its name, and those of
/// both.
pub(crate) fn durability(
    (a, records_a): (&str, &[&RunRecord]),
    (b, records_b): (&str, &[&RunRecord]),
) -> (Vec<String>, Vec<String>) {
    let caveats = |records: &[&RunRecord]| -> BTreeSet<String> {
        records.iter().flat_map(|record| record.durability_caveats()).collect()
    };
    let (of_a, of_b) = (caveats(records_a), caveats(records_b));
    let only_a = of_a.difference(&of_b).map(|caveat| format!("{a}: {caveat}"));
    let only_b = of_b.difference(&of_a).map(|caveat| format!("{b}: {caveat}"));
    let common_caveats = of_a.intersection(&of_b).map(|caveat| format!("both sides: {caveat}"));
    (only_a.chain(only_b).collect(), common_caveats.collect())
}

/// Whether the plan key `path` decides what an operation of the block workload does: its number of rows, or the
/// share of a class.
fn decides_work(path: &str) -> bool {
    path == "workload.work_unit" || (path.starts_with("workload.") && path.ends_with("_pct"))
}

/// Plan keys that decide what an operation does, where they differ between the sides at any common point.
fn unequal_work(pairs: &[Pair<'_>]) -> Vec<String> {
    // Keys of the block workload mean nothing for a custom one.
    let is_custom =
        pairs.iter().flat_map(|pair| pair.a.iter().chain(&pair.b)).any(|run| run.workload.is_some());
    let decides = |key: &&PlanKey| match is_custom {
        true => key.path == "workload.folder",
        false => decides_work(key.path),
    };
    let value = |key: &PlanKey, record: &RunRecord| match is_custom {
        true => record.workload.as_ref().map(|own| own.name.clone()),
        false => key.get(&record.plan),
    };
    let differs = |key: &&PlanKey| {
        let measured = |records: &[&RunRecord]| {
            let runs = records.iter().filter(|record| record.kind == RecordKind::Run);
            runs.map(|record| value(key, record)).collect::<BTreeSet<_>>()
        };
        pairs.iter().any(|pair| {
            let (a, b) = (measured(&pair.a), measured(&pair.b));
            !a.is_empty() && !b.is_empty() && a != b
        })
    };
    keys::all().filter(decides).filter(differs).map(|key| key.path.to_owned()).collect()
}

/// The notes that workloads require, each once.
fn workload_notes<'r>(records: impl Iterator<Item = &'r &'r RunRecord>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for note in records.flat_map(|record| record.notes()) {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    all
}

/// A note on a side whose figures are imported in whole or in part.
fn imported(name: &str, records: &[&RunRecord]) -> Option<String> {
    let count = records.iter().filter(|record| record.kind == RecordKind::Import).count();
    let count_prefix = if count == records.len() { String::new() } else { format!("{count} of ") };
    let runs = if records.len() == 1 { "run is" } else { "runs are" };
    (count > 0).then(|| format!("{name}: {count_prefix}{} {runs} imported and not audited", records.len()))
}

fn no_result(record: &RunRecord) -> (String, String) {
    let reason = record.reasons.first().map_or("", String::as_str);
    (record.id.clone(), format!("{}: {reason}", record.status.name()).trim_end_matches(": ").to_owned())
}

/// The measure `name` of one side's runs at one point; absent unless each run has it.
///
/// Each run counts once, so latencies are the runs' own. Merged histograms would leave one figure
/// and no repeats.
fn estimate(runs: &[&RunRecord], name: &str) -> Option<Estimate> {
    let figures: Option<Vec<(f64, Unit)>> = runs.iter().map(|record| figure(record, name)).collect();
    let figures = figures?;
    let unit = figures.first()?.1;
    Estimate::of_median(unit, figures.into_iter().map(|figure| figure.0).collect())
}

/// The measures to compare: the named ones, or the defaults and those imported measures that both
/// sides have somewhere.
fn measures(rules: &ComparisonRules, pairs: &[Pair<'_>]) -> Vec<String> {
    if !rules.measures.is_empty() {
        return rules.measures.clone();
    }
    let has =
        |records: &[&RunRecord], name: &str| records.iter().any(|record| figure(record, name).is_some());
    let have = |name: &str| pairs.iter().any(|pair| has(&pair.a, name) && has(&pair.b, name));
    let usual = MEASURES_SHOWN.iter().filter(|name| have(name)).map(|&name| name.to_owned());
    let mut measures: Vec<String> = usual.collect();
    let imported = pairs.iter().flat_map(|pair| &pair.a).filter(|record| record.kind == RecordKind::Import);
    let named: BTreeSet<&String> = imported.flat_map(|record| record.metrics.keys()).collect();
    measures.extend(
        named.into_iter().filter(|name| !MEASURES_SHOWN.contains(&name.as_str()) && have(name)).cloned(),
    );
    measures
}

/// Which direction of a measure is better. For an unknown measure the unit decides: less time is
/// better, a higher rate is better, and others have no direction.
pub fn better(measure: &str, unit: Unit) -> Better {
    match (Measure::find(measure), unit) {
        (Some(known), _) => known.better,
        (None, Unit::Microseconds | Unit::Seconds) => Better::Lower,
        (
            None,
            Unit::PerSecond
            | Unit::BlocksPerSecond
            | Unit::BytesPerSecond
            | Unit::MegabytesPerSecond
            | Unit::RowsPerSecond,
        ) => Better::Higher,
        (None, _) => Better::Neither,
    }
}

fn column(measure: &str, points: &[Pair<'_>], rules: &ComparisonRules) -> ComparisonColumn {
    let estimates: Vec<_> =
        points.iter().map(|pair| (estimate(&pair.a, measure), estimate(&pair.b, measure))).collect();
    let unit = estimates
        .iter()
        .find_map(|(a, b)| a.as_ref().or(b.as_ref()))
        .map_or(Unit::Count, |estimate| estimate.unit);
    let better = better(measure, unit);
    let is_marked = |records: &[&RunRecord]| records.iter().any(|record| is_marked(record, measure));
    let run_scoped = is_run_scoped(measure, points.iter().flat_map(|pair| pair.a.iter().chain(&pair.b)));
    let values = estimates.iter().zip(points).map(|((a, b), pair)| {
        let runs =
            |estimate: &Option<Estimate>| estimate.as_ref().map(|e| e.runs.clone()).unwrap_or_default();
        let marked = (is_marked(&pair.a), is_marked(&pair.b));
        ComparedValues {
            measure: measure.to_owned(),
            unit,
            better,
            a: runs(a),
            b: runs(b),
            marked,
            run_scoped,
        }
    });
    let (compared, draws) = compare_values(values.collect(), rules.margin_pct);
    ComparisonColumn { measure: measure.to_owned(), better, compared, draws, run_scoped }
}

/// Whether a measure counts the run's own work only in all of these runs.
pub(crate) fn is_run_scoped<'r>(measure: &str, mut records: impl Iterator<Item = &'r &'r RunRecord>) -> bool {
    records.all(|record| {
        attribution_of(record, measure).is_none_or(|whose| whose.scope == AttributionScope::Run)
    })
}

/// One figure of two sides, each with several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedValues {
    pub measure: String,
    pub unit: Unit,
    pub better: Better,
    /// Each of the first side's runs; empty where one of them lacks the figure.
    pub a: Vec<f64>,
    /// Each of the second side's runs.
    pub b: Vec<f64>,
    /// Whether the figures of a side include background activity.
    pub marked: (bool, bool),
    /// Whether it counts the run's own work only. A mark then means background activity beside it.
    /// That matters for a comparison only where it differs between the sides ([`background`]).
    pub run_scoped: bool,
}

/// Compares figures that belong together: probabilities are adjusted for their number.
pub(crate) fn compare_values(
    all: Vec<ComparedValues>,
    margin_pct: f64,
) -> (Vec<MeasureComparison>, Vec<Option<RatioDraws>>) {
    let repeated = |of: &ComparedValues| of.a.len().max(of.b.len()) > 1;
    let chances: Vec<Option<f64>> = all
        .iter()
        .map(|of| rank::mann_whitney(&of.a, &of.b).filter(|_| repeated(of)).map(|test| test.p))
        .collect();
    let p_adjusted = adjusted(&chances);
    let median = |runs: &[f64]| (!runs.is_empty()).then(|| ratio::median(&mut runs.to_vec()));
    let tiny =
        |of: &ComparedValues, value: Option<f64>| value.is_some_and(|value| is_near_zero(of.unit, value));
    // A ratio of two figures that print as zero is a ratio of rounding errors.
    let both_tiny = |of: &ComparedValues| tiny(of, median(&of.a)) && tiny(of, median(&of.b));
    let draws: Vec<Option<RatioDraws>> =
        all.iter().map(|of| draw_ratio(&of.a, &of.b).filter(|_| !both_tiny(of))).collect();
    let compared = all.into_iter().enumerate().map(|(i, of)| {
        let ratio = draws[i].as_ref().map(RatioDraws::ratio);
        let (a, b) = (median(&of.a), median(&of.b));
        let evidence = VerdictEvidence {
            runs: (of.a.len(), of.b.len()),
            runs_max: of.a.len().max(of.b.len()),
            ratio,
            p: p_adjusted[i],
            near_zero: both_tiny(&of),
            marked: (of.marked.0 || of.marked.1) && !of.run_scoped,
        };
        MeasureComparison {
            difference: a.zip(b).map(|(a, b)| b - a),
            difference_pct: a.zip(b).and_then(|(a, b)| difference_pct(of.unit, a, b)),
            interval_pct: ratio.filter(|_| repeated(&of) && !tiny(&of, a)).map(interval_pct),
            p: chances[i],
            p_adjusted: p_adjusted[i],
            verdict: if a.is_none() || b.is_none() {
                ComparisonVerdict::Unsure
            } else {
                judge(&evidence, of.better, margin_pct)
            },
            a,
            b,
            measure: of.measure,
            unit: of.unit,
            marked: of.marked,
            a_runs: of.a,
            b_runs: of.b,
        }
    });
    (compared.collect(), draws)
}
