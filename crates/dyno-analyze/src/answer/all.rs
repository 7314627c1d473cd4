//! Summarizes all curves of a set of runs, and lists why the other runs have no result.

use dyno_record::{CheckStatus, RecordKind, RunRecord, Status};
use serde::{Deserialize, Serialize};

use super::{CurveSummary, Tone, answer};
use crate::limited::limited;
use crate::next::{NextStep, RunSteps, chosen};
use crate::points::{MeasuredCurve, MeasuredPoint, Points, SESSIONS, points};

/// Operations per second: the measure of capacity wherever operations are counted.
const OPS: &str = "ops_per_s";
/// The measure of capacity where every run scans only: their operations are no lookups.
const SCANNED: &str = "scan_mb_per_s";
/// The measure of capacity where nothing counted the operations.
const READS: &str = "physical_read_requests_per_s";

/// Runs without a result, grouped by reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunsWithoutResult {
    pub reason: String,
    pub runs: usize,
}

/// The summaries of all curves of a set of runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CurveSummaries {
    /// The worst tone of all curves; at least amber where a run has no result.
    pub tone: Tone,
    pub curves: Vec<CurveSummary>,
    /// Runs that belong to no curve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_result: Vec<RunsWithoutResult>,
    /// Notes that workloads require wherever their results are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to do next; at most three steps, those of the best curve first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextStep>,
}

impl CurveSummaries {
    /// Summarizes the curves along the load axis of `points`.
    pub fn of(points: &Points) -> Self {
        Self::of_counted(points, |_| true)
    }

    /// Summarizes points of which only those that keep `limits`, as `keeps` says, are capacity.
    pub fn within(points: &Points, limits: &str, keeps: impl Fn(&MeasuredPoint) -> bool) -> Self {
        let mut summaries = Self::of_counted(points, keeps);
        for curve in &mut summaries.curves {
            curve.within = Some(limits.to_owned());
        }
        if summaries.curves.is_empty() && !points.points.is_empty() {
            let runs = points.points.iter().map(|point| point.runs.len()).sum();
            let reason = format!("no load that was tried keeps {limits}");
            summaries.without_result.push(RunsWithoutResult { reason, runs });
        }
        // The search itself knows which loads are missing.
        summaries.next.retain(|step| !step.is_about_loads());
        summaries
    }

    fn of_counted(points: &Points, counts: impl Fn(&MeasuredPoint) -> bool) -> Self {
        let along = match points.axes.iter().any(|axis| axis.path == points.load_axis()) {
            true => points.load_axis(),
            false => SESSIONS,
        };
        let curves = points.curves(along);
        let answers = curves.iter().filter_map(|curve| answer(measure(curve), curve, &counts)).collect();
        let mut without: Vec<RunsWithoutResult> = Vec::new();
        for out in &points.left_out {
            match without.iter_mut().find(|known| known.reason == out.reason) {
                Some(known) => known.runs += 1,
                None => without.push(RunsWithoutResult { reason: out.reason.clone(), runs: 1 }),
            }
        }
        Self { notes: points.notes.clone(), ..Self::from_curves(answers, without) }
    }

    /// Summarizes one run. An interrupted run without a failed check is summarized by the part that
    /// was measured.
    pub fn of_run(record: &RunRecord) -> Self {
        let is_cut = record.status == Status::Interrupted
            && record.window.is_some()
            && record.audit.iter().all(|check| check.status != CheckStatus::Fail);
        if !is_cut {
            let summaries = Self::of(&points(std::slice::from_ref(record)));
            return match summaries.curves.is_empty() {
                true => Self { next: RunSteps::of(record, &limited(record)).without_result(), ..summaries },
                false => summaries,
            };
        }
        let mut measured = Self::of(&points(&[RunRecord { status: Status::Valid, ..record.clone() }]));
        for answer in &mut measured.curves {
            answer.why.push("the run was interrupted: the figures are of the part that was measured".into());
            answer.tone = answer.tone.max(Tone::Warned);
        }
        let notes = std::mem::take(&mut measured.notes);
        Self { notes, ..Self::from_curves(measured.curves, measured.without_result) }
    }

    /// Joins the summaries of several sides. The side's name precedes the names of its curves.
    pub fn of_sides<'s>(sides: impl IntoIterator<Item = (&'s str, Self)>) -> Self {
        let (mut curves, mut without, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for (side, answers) in sides {
            let new: Vec<String> = answers.notes.into_iter().filter(|note| !notes.contains(note)).collect();
            notes.extend(new);
            curves.extend(answers.curves.into_iter().map(|curve| CurveSummary {
                name: match curve.name.is_empty() {
                    true => side.to_owned(),
                    false => format!("{side}: {}", curve.name),
                },
                ..curve
            }));
            without.extend(
                answers
                    .without_result
                    .into_iter()
                    .map(|out| RunsWithoutResult { reason: format!("{side}: {}", out.reason), ..out }),
            );
        }
        // What comes next depends on how the sides compare.
        Self { notes, next: Vec::new(), ..Self::from_curves(curves, without) }
    }

    fn from_curves(curves: Vec<CurveSummary>, without_result: Vec<RunsWithoutResult>) -> Self {
        let worst = curves.iter().map(|answer| answer.tone).max().unwrap_or(Tone::Invalid);
        // A run without a result qualifies what the others show.
        let tone = if without_result.is_empty() { worst } else { worst.max(Tone::Warned) };
        let mut best: Vec<&CurveSummary> = curves.iter().collect();
        best.sort_by(|a, b| b.capacity.value.total_cmp(&a.capacity.value));
        let next = chosen(&best.iter().map(|curve| curve.next.clone()).collect::<Vec<_>>());
        Self { tone, curves, without_result, notes: Vec::new(), next }
    }

    /// Whether the record has a curve. Measurements of raw limits and of background activity have
    /// none.
    pub fn has_summary(record: &RunRecord) -> bool {
        !matches!(record.kind, RecordKind::Component | RecordKind::Watch)
    }
}

/// The measure in which the capacity of a curve is reported.
fn measure(curve: &MeasuredCurve<'_>) -> &'static str {
    let has = |name: &str| curve.points.iter().any(|point| point.estimates.contains_key(name));
    match has(OPS) {
        true if curve.points.iter().all(|point| point.scans_only()) => SCANNED,
        true => OPS,
        false => READS,
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::{AuditCheck, Metric, Unit};

    use super::*;
    use crate::fixture;

    fn warned(record: &mut RunRecord) {
        record.audit.push(AuditCheck {
            check: "physical_reads".into(),
            status: CheckStatus::Warn,
            expected: String::new(),
            observed: String::new(),
            detail: "the page cache answered".into(),
        });
    }

    fn run(id: &str) -> RunRecord {
        let mut record = fixture::postgres();
        record.id = id.to_owned();
        record.audit.clear();
        record
    }

    #[test]
    fn green_tone_requires_audited_quiet_result() {
        let quiet = run("a");
        assert_eq!(CurveSummaries::of_run(&quiet).tone, Tone::Good, "{:#?}", CurveSummaries::of_run(&quiet));
        let mut doubted = run("b");
        warned(&mut doubted);
        let answers = CurveSummaries::of_run(&doubted);
        assert_eq!(answers.tone, Tone::Warned);
        assert!(answers.curves[0].why.iter().any(|why| why == "audit warning: physical reads"));
        let mut far = run("c");
        far.metrics.insert("ops_per_s".into(), Metric::Value { value: 9e9, unit: Unit::PerSecond });
        let apart = CurveSummaries::of(&points(&[run("a"), far]));
        assert_eq!(apart.tone, Tone::Warned, "noisy: {apart:#?}");
        let imported = RunRecord { status: Status::Imported, ..run("d") };
        assert_eq!(CurveSummaries::of_run(&imported).tone, Tone::Imported);
        let invalid = RunRecord { status: Status::Invalid, reasons: vec!["others".into()], ..run("e") };
        let answers = CurveSummaries::of_run(&invalid);
        assert_eq!((answers.tone, answers.curves.len()), (Tone::Invalid, 0));
        assert_eq!(answers.without_result[0].reason, "invalid: others");
        let cut = RunRecord { status: Status::Interrupted, ..run("f") };
        let answers = CurveSummaries::of_run(&cut);
        assert_eq!((answers.tone, answers.curves.len()), (Tone::Warned, 1));
    }

    #[test]
    fn scan_only_runs_are_summarized_by_bytes_read() {
        let mut scans = run("a");
        let ops = scans.metrics.get("ops_per_s").and_then(Metric::value);
        let ops = ops.or_else(|| scans.leading_ops().map(|all| all.rate_per_s)).unwrap();
        scans.metrics.insert("scans_per_s".into(), Metric::Value { value: ops, unit: Unit::PerSecond });
        let figure = Metric::Value { value: 812.0, unit: Unit::MegabytesPerSecond };
        scans.metrics.insert("scan_mb_per_s".into(), figure);
        let answers = CurveSummaries::of_run(&scans);
        assert_eq!((answers.curves[0].measure.as_str(), answers.curves[0].capacity.value), (SCANNED, 812.0));
    }

    #[test]
    fn compared_sides_keep_their_names() {
        let answers = CurveSummaries::of_sides([
            ("a", CurveSummaries::of_run(&run("a"))),
            ("b", CurveSummaries::of_run(&run("b"))),
        ]);
        let names: Vec<&str> = answers.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
