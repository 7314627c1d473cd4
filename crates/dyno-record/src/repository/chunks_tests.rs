//! Tests of full series: stored during the run, kept or deleted at its end, and deleted with the run.

use std::collections::BTreeMap;

use super::fault_tests::{begun, directory, record};
use super::*;
use crate::record::RunRecord;
use crate::sample;
use crate::series::{FullSeries, OVERVIEW_POINTS_MAX, SeriesChunk, SeriesOverview, SeriesPart, SeriesPoint};

const RUN: &str = "20260101-000000-aaaa";

fn repository() -> (tempfile::TempDir, Repository) {
    let directory = directory();
    let repository = Repository::open(&directory.path().join("runs.db")).unwrap();
    (directory, repository)
}

fn point(number: u64) -> SeriesPoint {
    SeriesPoint {
        at_s: number as f64,
        seconds: 1.0,
        ops: 1_000 + number % 7,
        errors: u64::from(number.is_multiple_of(1_000)),
        p50_us: Some(100.0),
        p99_us: Some(200.0),
        max_us: Some(300.0 + (number % 11) as f64),
        metrics: BTreeMap::from([
            ("commits_per_s".to_owned(), 200.0 + (number % 5) as f64),
            ("cpu_busy_pct".to_owned(), 50.0),
        ]),
        bands: vec![(12, 1_000)],
        slowest: None,
    }
}

fn stretch(part: SeriesPart, numbers: std::ops::Range<u64>) -> SeriesChunk {
    SeriesChunk { part, first: numbers.start, points: numbers.map(point).collect() }
}

fn stored(repository: &Repository, part: SeriesPart) -> Vec<SeriesPoint> {
    repository.chunks(RUN, part).flat_map(|chunk| chunk.unwrap().points).collect()
}

fn limit(repository: &Repository, pages: i64) {
    let sql = format!("PRAGMA max_page_count = {pages}");
    repository.connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap();
}

/// A record of two targets whose series are overviews of `intervals` seconds.
fn thinned(intervals: u64, point: fn(u64) -> SeriesPoint) -> RunRecord {
    let mut overview = SeriesOverview::new(OVERVIEW_POINTS_MAX);
    (0..intervals).for_each(|number| overview.push(point(number)));
    let series = overview.into_series(1.0);
    let mut record = RunRecord { id: RUN.into(), series: series.clone(), ..sample::several() };
    for own in record.targets.iter_mut().filter_map(|target| target.own.as_deref_mut()) {
        own.series = series.clone();
    }
    record
}

/// A point without counters, because the tests need millions of points.
fn bare(number: u64) -> SeriesPoint {
    SeriesPoint { metrics: BTreeMap::new(), ..point(number) }
}

#[test]
fn day_long_series_of_two_targets_round_trip() {
    const HOUR: u64 = 3_600;
    // One and a quarter days: every chunk is stored and read alone, so thirty days would test nothing new.
    let days = 30 * HOUR;
    let (directory, repository) = repository();
    repository.connection.pragma_update(None, "synchronous", "OFF").unwrap();
    repository.begin(&begun(RUN)).unwrap();
    let mut writer = SeriesWriter::new(RUN.into());
    let mut unwritten_max = 0;
    for from in (0..days).step_by(HOUR as usize) {
        for part in 0..3 {
            let points = (from..from + HOUR).map(bare).collect();
            writer.add(SeriesChunk { part, first: from, points });
        }
        unwritten_max = unwritten_max.max(writer.unwritten());
        writer.write(&repository).unwrap();
    }
    assert_eq!(writer.lost(), 0);
    assert!(unwritten_max <= 3 * (HOUR + 240), "{unwritten_max} points were in memory at once");
    let record = thinned(days, bare);
    repository.finish(&record).unwrap();
    let read = repository.load(RUN).unwrap();
    assert_eq!(read, record);
    assert!(read.series.points.len() <= OVERVIEW_POINTS_MAX);
    assert_eq!(read.series.full.as_ref().map(|full| full.points), Some(days));
    assert_eq!(repository.chunked_points(RUN, 2).unwrap(), days);
    let mut next = 0;
    for chunk in repository.chunks(RUN, 0) {
        let chunk = chunk.unwrap();
        assert!(chunk.points.len() <= 240);
        assert!(chunk.first == next);
        assert!(chunk.points.iter().zip(next..).all(|(is, number)| *is == bare(number)));
        next = chunk.end();
    }
    assert_eq!(next, days);
    drop(directory);
}

#[test]
fn record_size_is_bounded_for_long_runs_with_many_metrics() {
    let many = |number| {
        let metrics =
            (0..60).map(|metric| (format!("counter_{metric}_per_s"), 1.0 / (number + metric + 1) as f64));
        SeriesPoint { metrics: metrics.collect(), ..point(number) }
    };
    let record = thinned(2 * OVERVIEW_POINTS_MAX as u64, many);
    let bytes = record.to_json().unwrap().len();
    assert!(bytes < 64 << 20, "the record has {bytes} bytes");
}

#[test]
fn incrementally_written_intervals_are_stored_after_each_write() {
    let (_directory, repository) = repository();
    repository.begin(&begun(RUN)).unwrap();
    let mut writer = SeriesWriter::new(RUN.into());
    for from in (0..1_000).step_by(10) {
        writer.add(stretch(0, from..from + 10));
        writer.write(&repository).unwrap();
        assert_eq!(repository.chunked_points(RUN, 0).unwrap(), from + 10);
        assert_eq!(writer.unwritten(), 0);
    }
    let expected: Vec<_> = (0..1_000).map(point).collect();
    assert_eq!(stored(&repository, 0), expected);
    assert_eq!(repository.chunks(RUN, 0).count(), 5, "chunks are filled up, not one for each write");
}

#[test]
fn late_session_reports_are_added_to_stored_intervals() {
    let (_directory, repository) = repository();
    repository.begin(&begun(RUN)).unwrap();
    let mut writer = SeriesWriter::new(RUN.into());
    writer.add(stretch(0, 0..600));
    writer.write(&repository).unwrap();
    writer.add(stretch(0, 600..900));
    for number in [3, 590, 700, 899] {
        let late = SeriesPoint { ops: 5, errors: 1, max_us: Some(9e6), ..SeriesPoint::default() };
        writer.add_late(SeriesChunk { part: 0, first: number, points: vec![late] });
    }
    writer.write(&repository).unwrap();
    let all = stored(&repository, 0);
    assert_eq!(all.len(), 900);
    for (number, is) in (0..).zip(&all) {
        let more = u64::from([3, 590, 700, 899].contains(&number));
        assert_eq!(
            (is.ops, is.errors),
            (point(number).ops + 5 * more, point(number).errors + more),
            "{number}"
        );
        assert_eq!(is.max_us == Some(9e6), more == 1);
    }
}

#[test]
fn chunks_are_kept_for_overview_and_deleted_with_run() {
    let (_directory, repository) = repository();
    let rows = || -> i64 {
        repository.connection.query_row("SELECT count(*) FROM chunk", [], |row| row.get(0)).unwrap()
    };
    let keep = || {
        repository.begin(&begun(RUN)).unwrap();
        let mut writer = SeriesWriter::new(RUN.into());
        writer.add(stretch(0, 0..9_000));
        writer.write(&repository).unwrap();
    };
    keep();
    repository.finish(&record(RUN)).unwrap();
    assert_eq!(rows(), 0, "a record with every interval needs none beside it");
    repository.delete(RUN).unwrap();
    keep();
    repository.finish(&thinned(9_000, point)).unwrap();
    assert!(rows() > 0);
    repository.delete(RUN).unwrap();
    assert_eq!(rows(), 0);
}

#[test]
fn killed_run_is_recovered_with_overview_of_its_chunks() {
    let (_directory, repository) = repository();
    let mut killed_run = begun(RUN);
    killed_run.process = ProcessMark { pid: u32::MAX >> 2, start_ticks: Some(1), ..killed_run.process };
    repository.begin(&killed_run).unwrap();
    repository.keep_draft(&RunRecord { series: Default::default(), ..thinned(10, point) }).unwrap();
    let draft = RunRecord { id: RUN.into(), ..thinned(10, point) };
    let interval_s = draft.series.interval_s;
    assert_eq!(interval_s, 1.0);
    let mut writer = SeriesWriter::new(RUN.into());
    for part in 0..3 {
        writer.add(stretch(part, 0..10_000));
        writer.write(&repository).unwrap();
    }
    let rescued = repository.load(RUN).unwrap();
    assert_eq!(rescued.status, crate::Status::Interrupted);
    assert!(rescued.reasons[0].contains("the first 10000 s"), "{:?}", rescued.reasons);
    let ops: u64 = (0..10_000).map(|number| point(number).ops).sum();
    let parts = rescued.targets.iter().map(|target| &target.own.as_ref().unwrap().series);
    for series in std::iter::once(&rescued.series).chain(parts) {
        assert!(series.points.len() <= OVERVIEW_POINTS_MAX);
        assert!(series.intervals() == 10_000);
        assert_eq!(series.points.iter().map(|point| point.ops).sum::<u64>(), ops);
    }
    // A final record replaces the draft; the series stays.
    repository.finish(&thinned(10_000, point)).unwrap();
    assert_eq!(repository.chunked_points(RUN, 0).unwrap(), 10_000);
}

#[test]
fn intervals_wait_bounded_while_repository_is_full() {
    let (_directory, repository) = repository();
    repository.begin(&begun(RUN)).unwrap();
    let pages: i64 = repository.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    limit(&repository, pages);
    let mut writer = SeriesWriter::new(RUN.into());
    let mut next = 0;
    while writer.lost() == 0 {
        writer.add(stretch(0, next..next + 1_000));
        next += 1_000;
        if let Err(error) = writer.write(&repository) {
            assert!(matches!(error, RepositoryError::Full { .. }), "{error:?}");
        }
        assert!(next < 1_000_000, "nothing is ever given up");
    }
    assert!(writer.unwritten() <= 20_000, "{} points wait", writer.unwritten());
    limit(&repository, 1 << 30);
    writer.write(&repository).unwrap();
    let all = stored(&repository, 0);
    assert!(all.len() as u64 + writer.lost() >= next, "{} of {next}", all.len());
    assert_eq!(all.last(), Some(&point(next - 1)));
}

#[test]
fn corrupt_chunks_return_one_error() {
    let (_directory, repository) = repository();
    repository.begin(&begun(RUN)).unwrap();
    repository.keep_chunks(RUN, [&stretch(0, 0..10)]).unwrap();
    for packed in [&b"rubbish"[..], &pack::pack("{}"), &pack::pack("[")] {
        repository.connection.execute("UPDATE chunk SET packed = ?1", [packed]).unwrap();
        let read: Vec<_> = repository.chunks(RUN, 0).collect();
        assert!(read.len() == 1, "{read:?}");
        assert!(read[0].is_err(), "{read:?}");
    }
    let empty = SeriesChunk { part: 0, first: 0, points: vec![] };
    repository.keep_chunks(RUN, [&empty]).unwrap();
    assert_eq!(repository.chunks(RUN, 0).count(), 1, "an empty chunk is not read for ever");
    let error = repository.keep_chunks("nobody", [&empty]).unwrap_err();
    assert!(matches!(error, RepositoryError::Sqlite { .. }), "{error:?}");
}

#[test]
fn record_states_that_its_series_is_an_overview() {
    let record = thinned(9_000, point);
    let json: serde_json::Value = serde_json::from_str(&record.to_json().unwrap()).unwrap();
    assert_eq!(json["series"]["full"]["points"], 9_000);
    assert_eq!(
        (json["series"]["interval_s"].as_f64(), json["series"]["full"]["interval_s"].as_f64()),
        (Some(2.0), Some(1.0))
    );
    let full = FullSeries { interval_s: 1.0, points: 9_000, lacks: None };
    assert_eq!(RunRecord::from_json(&record.to_json().unwrap()).unwrap().series.full, Some(full));
    let short = sample::full().to_json().unwrap();
    assert!(!short.contains("\"full\""), "below the bound nothing is new");
    assert!(!short.contains("slowest"), "below the bound nothing is new");
}
