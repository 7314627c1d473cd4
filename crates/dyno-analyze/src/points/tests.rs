//! Tests the documented behavior of points, on records that differ where a test needs it.

use dyno_plan::Bytes;
use dyno_record::{Histogram, ImportSource, Metric, RunRecord, Status, Unit};

use super::*;
use crate::fixture;

/// Run number `n` with `sessions` and `update_pct`.
fn run(n: u32, sessions: u32, update_pct: u32, ops_per_s: f64) -> RunRecord {
    let mut record = fixture::postgres();
    record.id = format!("20260321-1425{n:02}-0000");
    record.started_at = format!("2026-03-21T14:25:{n:02}Z");
    record.plan.run.sessions_per_schema = sessions;
    record.plan.workload.update_pct = update_pct;
    record.plan.workload.seed = Some(u64::from(n));
    record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops_per_s, unit: Unit::PerSecond });
    record
}

fn timed(record: &mut RunRecord, latencies_us: &[(u64, u64)]) {
    let mut histogram = Histogram::new();
    latencies_us.iter().for_each(|&(us, count)| histogram.record_n_ns(us * 1_000, count));
    let all = record.ops.get_mut("all").unwrap();
    all.service_us = histogram.summary();
    all.response_us = histogram.summary();
}

#[test]
fn runs_differing_only_in_seed_are_repeats() {
    let records = [run(3, 4, 20, 1_300.0), run(1, 4, 20, 1_000.0), run(2, 4, 20, 1_100.0)];
    let points = points(&records);
    assert!(points.axes.is_empty());
    let [point] = points.points.as_slice() else { panic!("{:?}", points.points) };
    let ops = &point.estimates["ops_per_s"];
    assert_eq!(ops.runs, [1_000.0, 1_100.0, 1_300.0], "in the order in which they ran");
    assert_eq!((ops.min(), ops.value, ops.max(), ops.n()), (1_000.0, 1_100.0, 1_300.0, 3));
}

#[test]
fn axes_are_varied_settings_and_points_are_sorted_by_them() {
    let records = [run(1, 16, 20, 1.0), run(2, 2, 20, 2.0), run(3, 16, 0, 3.0), run(4, 2, 0, 4.0)];
    let points = points(&records);
    let paths: Vec<_> = points.axes.iter().map(|axis| axis.path.as_str()).collect();
    assert_eq!(paths, ["workload.update_pct", SESSIONS]);
    let values: Vec<_> = points.points.iter().map(|p| (p.values[0].text.as_str(), p.sessions)).collect();
    assert_eq!(values, [("0", 2), ("0", 16), ("20", 2), ("20", 16)]);
    let curves = points.curves(points.load_axis());
    let names: Vec<_> = curves.iter().map(MeasuredCurve::name).collect();
    assert_eq!(names, ["update_pct 0 %", "update_pct 20 %"]);
    assert_eq!(curves[1].points.iter().map(|p| p.sessions).collect::<Vec<_>>(), [2, 16]);
}

#[test]
fn sessions_and_schemas_are_one_axis_unless_both_vary() {
    let (mut two, four) = (run(1, 1, 0, 1.0), run(2, 1, 0, 2.0));
    two.plan.data.schemas = 2;
    let paths = |points: &Points| points.axes.iter().map(|a| a.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&points(&[two.clone(), four])), [SESSIONS]);
    let same_sessions = run(3, 2, 0, 3.0);
    assert_eq!(paths(&points(&[two, same_sessions])), ["data.schemas"]);
}

#[test]
fn two_platforms_are_never_repeats() {
    let (old, mut new) = (run(1, 4, 0, 1.0), run(2, 4, 0, 2.0));
    new.targets[0].identity.version = "18.1".into();
    let records = [old, new];
    let points = points(&records);
    assert_eq!(points.axes[0].path, "target.version");
    assert_eq!(points.points.len(), 2);
}

#[test]
fn unset_block_size_in_plan_matches_loaded_one() {
    let (mut own, mut open) = (run(1, 4, 0, 1.0), run(2, 4, 0, 2.0));
    own.plan.data.block_size = Some(Bytes(8_192));
    open.plan.data.block_size = None;
    assert!(points(&[own, open]).axes.is_empty());
}

#[test]
fn invalid_run_is_left_out_of_points_with_reason() {
    let mut bad = run(2, 4, 20, 9_999.0);
    bad.status = Status::Invalid;
    bad.reasons = vec!["commits: 3 missing".into()];
    let mut cut = run(3, 4, 20, 9_999.0);
    cut.status = Status::Interrupted;
    let records = [run(1, 4, 20, 1_000.0), bad, cut];
    let points = points(&records);
    assert_eq!(points.points[0].estimates["ops_per_s"].runs, [1_000.0]);
    let reasons: Vec<_> = points.left_out.iter().map(|left| left.reason.as_str()).collect();
    assert_eq!(reasons, ["invalid: commits: 3 missing", "interrupted"]);
}

#[test]
fn percentiles_come_from_merged_histograms() {
    // Nine operations of 1 ms in a quiet run, one of 100 ms in another: the p90 of all ten is 1 ms. The mean of both
    // runs' own p90 would be 50 ms.
    let (mut quiet, mut slow) = (run(1, 4, 20, 9.0), run(2, 4, 20, 1.0));
    timed(&mut quiet, &[(1_000, 9)]);
    timed(&mut slow, &[(100_000, 1)]);
    let records = [quiet, slow];
    let points = points(&records);
    let point = &points.points[0];
    let p90 = point.get("service_p90_us").unwrap();
    assert!((p90 - 1_000.0).abs() < 2.0, "{p90}");
    let mean = point.get("service_mean_us").unwrap();
    assert!((mean - 50_500.0).abs() < 20.0, "the median of the runs' means, as for throughput: {mean}");
    assert_eq!(point.estimates["service_p90_us"].n(), 2);
}

#[test]
fn metric_missing_in_one_repeat_is_missing_at_the_point() {
    let (tells, mut silent) = (run(1, 4, 20, 1.0), run(2, 4, 20, 1.0));
    let absent = Metric::Absent { absent: "track_io_timing is off".into() };
    silent.metrics.insert("physical_reads_per_s".into(), absent);
    silent.ops.get_mut("all").unwrap().service_us.histogram = None;
    let records = [tells, silent];
    let points = points(&records);
    let point = &points.points[0];
    assert_eq!(point.get("physical_reads_per_s"), None);
    assert_eq!(point.get("service_p99_us"), None, "no histogram, no percentile of the two");
    assert!(point.get("response_p99_us").is_some());
}

/// A record made from a line of a file: all its plan keys are unknown.
fn imported(n: u32, sessions: u32, labels: &[(&str, &str)]) -> RunRecord {
    let mut record = run(n, 1, n, f64::from(n));
    record.gate.sessions = sessions;
    let labels = labels.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    record.kind = dyno_record::RecordKind::Import;
    record.imported = Some(ImportSource { format: "csv".into(), labels, ..ImportSource::default() });
    record
}

#[test]
fn plan_keys_unknown_to_an_import_are_not_axes() {
    let labels = |test, row| [("test", test), ("row", row)];
    let records = [
        imported(1, 1, &labels("scan", "1")),
        imported(2, 8, &labels("scan", "2")),
        imported(3, 1, &labels("lookup", "3")),
        imported(4, 8, &labels("lookup", "4")),
    ];
    let points = points(&records);
    let paths: Vec<_> = points.axes.iter().map(|axis| axis.path.as_str()).collect();
    assert_eq!(paths, ["label.test", SESSIONS], "a label that is different in every line is no axis");
    let names: Vec<_> = points.curves(SESSIONS).iter().map(MeasuredCurve::name).collect();
    assert_eq!(names, ["test lookup", "test scan"]);
    assert_eq!(points.points[1].sessions, 8);
}

#[test]
fn import_is_no_repeat_of_a_run_and_variants_are_separate() {
    let (own, other) = (run(1, 4, 0, 1.0), imported(2, 4, &[]));
    let records = [own, other];
    let points_of_both = points(&records);
    assert_eq!(points_of_both.axes[0].path, "source");
    let names: Vec<_> = points_of_both.curves(SESSIONS).iter().map(MeasuredCurve::name).collect();
    assert_eq!(names, ["source –", "source csv"]);
    let (mut ext4, mut xfs) = (run(1, 4, 0, 1.0), run(2, 4, 0, 1.0));
    (ext4.variant, xfs.variant) = (Some("ext4".into()), Some("xfs".into()));
    assert_eq!(points(&[ext4, xfs]).axes[0].path, "variant");
}

#[test]
fn target_part_is_left_out_when_whole_run_is_present() {
    let (whole, mut part) = (run(1, 4, 0, 1.0), run(2, 4, 0, 0.5));
    part.one_target_of = Some(whole.id.clone());
    let together = [whole, part];
    let grouped = points(&together);
    assert_eq!(grouped.points[0].estimates["ops_per_s"].runs, [1.0]);
    assert_eq!(
        grouped.left_out[0].reason,
        "one target's part of 20260321-142501-0000, which is included as a whole"
    );
    assert_eq!(points(&together[1..]).points.len(), 1, "by itself it is a point");
}

#[test]
fn no_runs_give_no_points() {
    let points = points(&[]);
    assert!(points.points.is_empty());
    assert!(points.axes.is_empty());
    assert!(points.curves(SESSIONS).is_empty());
}

#[test]
fn every_record_metric_is_a_known_measure() {
    for (name, metric) in fixture::postgres().metrics {
        let measure = Measure::find(&name).unwrap_or_else(|| panic!("{name} has no words"));
        if let Metric::Value { unit, .. } = metric {
            assert_eq!(unit, measure.unit, "{name}");
        }
    }
}
