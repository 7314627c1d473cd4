//! A recorded sequence of events and the state after each; and the serialized form of every event.

use std::collections::BTreeMap;
use std::sync::Arc;

use dyno_drive::{CoarseLatencies, CompletedInterval, LiveProgress, RunEvent, RunningTotals};
use dyno_record::{
    AuditCheck, CheckStatus, PartOf, PointSetting, RecordKind, RunRecord, SeriesChunk, SeriesPoint, Status,
    SweepKind, WaitTime, Waits,
};
use serde_json::json;

use super::*;
use crate::event::{CampaignBegun, NextRun, RunEnded};

fn plan() -> dyno_plan::Plan {
    let engines = dyno_engine::registry![dyno_sqlite::ENGINE].specs;
    let target = Some("sqlite::memory:".to_owned());
    dyno_plan::read(&dyno_plan::PlanSource { target, ..dyno_plan::PlanSource::of(engines) }).unwrap()
}

fn check(name: &str, status: CheckStatus) -> AuditCheck {
    let words = |text: &str| text.to_owned();
    AuditCheck { check: words(name), status, expected: words("1"), observed: words("2"), detail: words("d") }
}

fn record() -> Arc<RunRecord> {
    let mut record = RunRecord::blank(Status::Invalid, plan());
    record.id = "20260101-000000-0001".into();
    record.audit = vec![
        check("commits", CheckStatus::Pass),
        check("reads", CheckStatus::Skipped),
        check("redo", CheckStatus::Fail),
    ];
    Arc::new(record)
}

fn step(number: u32) -> PartOf {
    let setting = PointSetting { key: "sessions".into(), value: "4".into() };
    PartOf {
        id: "sweep-1".into(),
        kind: SweepKind::Sweep,
        point: 7,
        repeat: number,
        side: None,
        settings: vec![setting],
    }
}

/// The interval that begins at this second, with 100 operations and one error.
fn complete(at_s: f64) -> CompletedInterval {
    let latency = CoarseLatencies::from_iter([(100_000, 90), (2_000_000, 10)]);
    let [p50_us, p99_us, max_us] = latency.quantiles_us([0.5, 0.99, 1.0]);
    let metrics = BTreeMap::from([("cpu_busy_pct".to_owned(), 5.5)]);
    let bands = vec![(11, 90), (19, 10)];
    let point = SeriesPoint {
        at_s,
        seconds: 1.0,
        ops: 100,
        errors: 1,
        p50_us,
        p99_us,
        max_us,
        metrics,
        bands,
        ..SeriesPoint::default()
    };
    let intervals = at_s as u64 + 1;
    let mut sums = CoarseLatencies::default();
    (0..intervals).for_each(|_| sums.add(&latency));
    let so_far = RunningTotals {
        until_s: at_s + 1.0,
        ops: 100 * intervals,
        errors: intervals,
        classes: vec![("select".to_owned(), 100 * intervals)],
        latency: sums,
    };
    let wait = |event: &str, average_sessions| WaitTime {
        class: "IO".into(),
        event: event.into(),
        average_sessions,
        share_pct: 50.0,
    };
    let waits = Waits::Sampled {
        samples: 10 * intervals,
        asked_per_s: 10.0,
        average_active_sessions: 3.0,
        events: vec![wait("read", 1.0), wait("write", 0.5)],
        company: Default::default(),
    };
    CompletedInterval {
        point,
        latency,
        so_far,
        waits,
        changes: Vec::new(),
        resets: Vec::new(),
        snapshot_count: intervals,
        counters: Vec::new(),
    }
}

fn live(elapsed_s: f64) -> LiveProgress {
    LiveProgress {
        elapsed_s,
        total_s: Some(60.0),
        done: elapsed_s / 60.0,
        errors: 2,
        ..LiveProgress::default()
    }
}

/// The events of a load and the first run of a sweep, each with its time, s.
fn recorded() -> Vec<(f64, CampaignEvent)> {
    let begun = CampaignBegun {
        id: "sweep-1".into(),
        kind: SweepKind::Sweep,
        plan: plan(),
        axes: vec![("sessions".into(), 2)],
        sides: Vec::new(),
        points: vec![(7, step(1).settings)],
        skips: true,
    };
    let next = NextRun { number: 1, total: Some(12), part: step(1), all_s: Some(720.0), rest_s: Some(660.0) };
    let id = "20260101-000000-0001".to_owned();
    let ended = RunEnded { number: 1, part: step(1), record: Some(record()), failed: None, skipped: false };
    let of_run = CampaignEvent::Phase;
    vec![
        (0.0, CampaignEvent::Reached),
        (0.0, CampaignEvent::Begun(Box::new(begun))),
        (1.0, CampaignEvent::Load(LoadEvent::Phase("rows".into(), 1_000))),
        (2.0, CampaignEvent::Load(LoadEvent::Advance(300, 6_000))),
        (3.0, CampaignEvent::Load(LoadEvent::Advance(200, 4_000))),
        (4.0, CampaignEvent::Load(LoadEvent::Over)),
        (5.0, CampaignEvent::Next(next)),
        (
            6.0,
            CampaignEvent::RunBegun { id, kind: RecordKind::Run, targets: "SQLite 3".into(), is_part: true },
        ),
        (7.0, of_run(RunEvent::Connecting { ready: 1, of: 4 })),
        (8.0, of_run(RunEvent::Connecting { ready: 4, of: 4 })),
        (9.0, of_run(RunEvent::Warmup { seconds: 5.0 })),
        (14.0, of_run(RunEvent::Window { at_ns: 0, late_ns: 0 })),
        (16.0, of_run(RunEvent::Interval(live(2.0)))),
        (16.0, of_run(RunEvent::Complete(Box::new(complete(0.0))))),
        (17.0, of_run(RunEvent::Complete(Box::new(complete(1.0))))),
        (18.0, of_run(RunEvent::Draining)),
        (18.0, of_run(RunEvent::Whole(Box::new(complete(1.0).so_far)))),
        (19.0, CampaignEvent::RunOver),
        (20.0, CampaignEvent::Stored(record())),
        (21.0, CampaignEvent::Ended(ended)),
        (22.0, CampaignEvent::Paused(true)),
    ]
}

/// The state after the last event until this time, s.
fn state_at(time_s: f64) -> RunProgress {
    let mut progress = RunProgress::default();
    for (at_s, event) in recorded().iter().filter(|(at_s, _)| *at_s <= time_s) {
        progress.hear(event, *at_s);
    }
    progress
}

#[test]
fn progress_of_a_load_counts_its_rows() {
    let load = state_at(3.0);
    assert_eq!((load.load_phase(), load.since_s, load.is_reached), (Some("rows"), 1.0, true));
    assert_eq!((load.rows, load.rows_of, load.bytes), (Some(500), Some(1_000), 10_000));
    assert_eq!((load.totals().loaded_rows, load.totals().loaded_bytes), (500, 10_000));
    let over = state_at(4.0);
    assert_eq!((over.load_phase(), over.rows, over.totals().loaded_rows), (None, None, 500));
}

#[test]
fn progress_of_a_campaign_names_its_run_and_estimates() {
    let next = state_at(5.0);
    assert_eq!((next.sweep.as_deref(), next.sweep_kind.as_deref()), (Some("sweep-1"), Some("sweep")));
    assert_eq!((next.phase.clone(), next.of, next.all_s), (RunPhase::Preparing, Some(12), Some(720.0)));
    assert_eq!(next.next.as_ref().map(|run| (run.number, run.point)), Some((1, 7)));
    assert!(next.skips);
    assert!(!next.is_soak());
    assert!(next.points.len() == 1);
    let ended = state_at(22.0);
    assert_eq!(
        (ended.phase.clone(), ended.next.is_none(), ended.paused),
        (RunPhase::BetweenRuns, true, true)
    );
    assert_eq!(ended.begun.as_ref().map(|step| step.number), Some(1), "the last run stays known");
    assert_eq!((ended.ended.len(), ended.ended[0].point, ended.ended[0].skipped), (1, 7, false));
    let result = ended.ended[0].run.as_ref().unwrap();
    assert_eq!((result, result.doubts.len()), (ended.stored.last().unwrap(), 1));
    assert_eq!(ended.runs_by_status, BTreeMap::from([("invalid", 1)]));
}

#[test]
fn progress_of_a_run_follows_its_phases() {
    let connecting = state_at(8.0);
    assert_eq!((connecting.phase.clone(), connecting.since_s), (RunPhase::Connecting(4, 4), 7.0));
    assert_eq!((connecting.run.as_deref(), connecting.sessions), (Some("20260101-000000-0001"), Some(4)));
    let warmup = state_at(9.0);
    assert_eq!((warmup.phase.clone(), warmup.phase_s), (RunPhase::Warmup, Some(5.0)));
    assert_eq!((warmup.window_share(9.0), warmup.window_left_s(9.0)), (None, None));
    let window = state_at(17.0);
    assert_eq!((window.elapsed_s, window.total_s, window.errors), (Some(2.0), Some(60.0), 2));
    assert_eq!((window.window_elapsed_s(20.0), window.window_left_s(20.0)), (Some(6.0), Some(54.0)));
    assert_eq!((window.window_share(20.0), window.all_left_s(20.0)), (Some(0.1), Some(714.0)));
    let last = window.last.as_ref().unwrap();
    assert_eq!((last.at_s, last.ops, window.looks), (1.0, 100, 2));
    assert_eq!(window.recent.over(2.0).map(|figures| figures.ops_per_s), Some(100.0));
    assert_eq!((window.recent.over(10.0), window.history.parts().len()), (None, 2));
    let storing = state_at(19.0);
    assert_eq!((storing.phase, storing.elapsed_s), (RunPhase::Storing, None));
}

#[test]
fn totals_of_a_process_never_fall() {
    let mut progress = RunProgress::default();
    let mut last = ProgressTotals::default();
    for (at_s, event) in recorded().iter().chain(&recorded()) {
        progress.hear(event, *at_s);
        let totals = progress.totals();
        assert!(totals.errors >= last.errors);
        assert!(totals.latency.count() >= last.latency.count());
        assert!(totals.classes.get("select") >= last.classes.get("select"));
        last = totals;
    }
    assert_eq!((last.errors, last.classes["select"], last.latency.count()), (4, 400, 400));
}

#[test]
fn remaining_time_of_a_run_by_operations_follows_its_share() {
    let mut progress = RunProgress::default();
    let counted = LiveProgress { total_s: None, done: 0.25, ..live(10.0) };
    progress.apply(&ProgressEvent::Progress(counted), 0.0);
    assert_eq!((progress.window_left_s(0.0), progress.window_left_s(5.0)), (Some(30.0), Some(25.0)));
    assert_eq!(progress.window_share(5.0), Some(0.25));
    progress.apply(&ProgressEvent::Progress(LiveProgress { done: 0.0, ..counted }), 0.0);
    assert_eq!(progress.window_left_s(0.0), None);
}

/// Another process sees the same in the written lines, as far as they go.
#[test]
fn progress_from_written_lines_equals_that_of_the_process() {
    let (mut here, mut elsewhere) = (RunProgress::default(), RunProgress::default());
    for (at_s, event) in recorded() {
        here.hear(&event, at_s);
        for written in ProgressEvent::of(&event).iter().filter(|event| event.is_written()) {
            let line = serde_json::to_string(written).unwrap();
            elsewhere.apply(&serde_json::from_str(&line).unwrap(), 0.0);
        }
        // Phases that are not written clear the figures of the one before.
        if here.phase.is_written() && !matches!(here.phase, RunPhase::Loading(_)) {
            assert_eq!(serde_json::to_value(&here).unwrap(), serde_json::to_value(&elsewhere).unwrap());
        }
    }
    assert_eq!(elsewhere.phase, RunPhase::Draining);
    assert_eq!((elsewhere.ended.len(), elsewhere.stored.len()), (1, 1));
}

/// Every kind of event, without what is not serialized; and its line.
fn every_event() -> Vec<(ProgressEvent, serde_json::Value)> {
    let step = CampaignStep {
        number: 2,
        settings: vec![("sessions".into(), "4".into())],
        repeat: 1,
        ..CampaignStep::default()
    };
    let step_line = json!({ "number": 2, "settings": [["sessions", "4"]], "repeat": 1 });
    let mut run = RunResult::of(&record());
    (run.skipped, run.response_p99_us) = (0, None);
    let doubt = json!({ "check": "redo", "status": "fail", "expected": "1", "observed": "2", "detail": "d" });
    let result = json!({
        "id": run.id, "status": "invalid", "reasons": run.reasons, "doubts": [doubt], "passed": 1
    });
    let mut stored = json!({ "event": "stored" });
    stored.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
    let metrics = BTreeMap::from([("cpu_busy_pct".to_owned(), 5.5)]);
    let waits = Some(vec![("IO".to_owned(), 1.5)]);
    let of_run = |event| ProgressEvent::of(&CampaignEvent::Phase(event));
    let mut complete = of_run(RunEvent::Complete(Box::new(complete(0.0)))).into_iter();
    let (interval, complete) = (complete.next().unwrap(), complete.next().unwrap());
    let (id, targets) = ("r".to_owned(), "SQLite 3".to_owned());
    let warmup = ProgressEvent::Phase { phase: RunPhase::Warmup, seconds: Some(5.0), rows: None };
    let watched = WatchProgress { at_s: 1.0, seconds: 1.0, metrics, waits };
    vec![
        (ProgressEvent::Reached, json!({ "event": "reached" })),
        (warmup, json!({ "event": "phase", "phase": "warm-up", "seconds": 5.0 })),
        (ProgressEvent::Loaded { rows: 5 }, json!({ "event": "loaded", "rows": 5 })),
        (
            ProgressEvent::Progress(live(6.0)),
            json!({ "event": "progress", "elapsed_s": 6.0, "total_s": 60.0, "done": 0.1, "errors": 2 }),
        ),
        (
            interval,
            json!({
                "event": "interval", "at_s": 0.0, "seconds": 1.0, "ops": 100, "errors": 1, "p50_us": 99.84,
                "p99_us": 1998.848, "max_us": 1998.848, "metrics": { "cpu_busy_pct": 5.5 }
            }),
        ),
        (
            complete,
            json!({
                "event": "complete", "at_s": 0.0, "heat": [[11, 90], [19, 10]], "samples": 10,
                "waits": [["User I/O", 1.5]], "looks": 1, "found": []
            }),
        ),
        (
            ProgressEvent::Watched(Box::new(watched)),
            json!({
                "event": "watched", "at_s": 1.0, "seconds": 1.0, "metrics": { "cpu_busy_pct": 5.5 },
                "waits": [["IO", 1.5]]
            }),
        ),
        (ProgressEvent::Away { why: Some("down".into()) }, json!({ "event": "away", "why": "down" })),
        (ProgressEvent::Away { why: None }, json!({ "event": "away" })),
        (ProgressEvent::Paused { paused: true }, json!({ "event": "paused", "paused": true })),
        (
            ProgressEvent::Late { at_s: 1.0, ops: 2, errors: 0, max_us: Some(5.0) },
            json!({ "event": "late", "at_s": 1.0, "ops": 2, "errors": 0, "max_us": 5.0 }),
        ),
        (ProgressEvent::Run { id, targets }, json!({ "event": "run", "id": "r", "targets": "SQLite 3" })),
        (
            ProgressEvent::Begun {
                id: "sweep-1".into(),
                kind: "sweep".into(),
                axes: vec!["sessions".into()],
                skips: true,
                points: Vec::new(),
            },
            json!({ "event": "begun", "id": "sweep-1", "kind": "sweep", "axes": ["sessions"], "skips": true }),
        ),
        (
            ProgressEvent::Next { step: step.clone(), of: Some(3), all_s: Some(9.0), rest_s: None },
            json!({ "event": "next", "step": step_line, "of": 3, "all_s": 9.0 }),
        ),
        (
            ProgressEvent::Ended { step, run: Some(Box::new(run.clone())), failed: None, skipped: false },
            json!({ "event": "ended", "step": step_line, "run": result }),
        ),
        (ProgressEvent::Stored(Box::new(run)), stored),
        (ProgressEvent::End { exit: 3 }, json!({ "event": "end", "exit": 3 })),
    ]
}

#[test]
fn every_event_has_its_documented_line_and_is_read_back() {
    let mut kinds = std::collections::BTreeSet::new();
    for (event, expected) in every_event() {
        let line = serde_json::to_value(&event).unwrap();
        assert_eq!(line, expected);
        assert_eq!(serde_json::from_value::<ProgressEvent>(line).unwrap(), event);
        kinds.insert(expected["event"].as_str().unwrap().to_owned());
        // The compiler asks for a new kind of event here, and the count below for its line.
        match event {
            ProgressEvent::Reached | ProgressEvent::Phase { .. } | ProgressEvent::Loaded { .. } => {}
            ProgressEvent::Progress(_) | ProgressEvent::Interval(_) | ProgressEvent::Complete(_) => {}
            ProgressEvent::Watched(_) | ProgressEvent::Away { .. } | ProgressEvent::Paused { .. } => {}
            ProgressEvent::Late { .. } | ProgressEvent::Run { .. } | ProgressEvent::Begun { .. } => {}
            ProgressEvent::Next { .. } | ProgressEvent::Ended { .. } | ProgressEvent::Stored(_) => {}
            ProgressEvent::End { .. } => {}
        }
    }
    assert_eq!(kinds.len(), 16);
}

#[test]
fn late_reports_are_written_for_all_targets_together() {
    let point = SeriesPoint { at_s: 3.0, seconds: 1.0, ops: 7, ..SeriesPoint::default() };
    let late = |part| {
        let chunk = SeriesChunk { part, first: 3, points: vec![point.clone()] };
        ProgressEvent::of(&CampaignEvent::Phase(RunEvent::Late(chunk)))
    };
    assert_eq!(late(0), [ProgressEvent::Late { at_s: 3.0, ops: 7, errors: 0, max_us: None }]);
    assert!(late(1).is_empty(), "part 1 is one target of several");
}

#[test]
fn run_result_contains_failed_audit_checks() {
    let result = RunResult::of(&record());
    assert_eq!((result.passed, result.skipped, result.doubts.len()), (1, 1, 1));
    assert_eq!(result.ops_per_s, None, "what was not measured is absent");
}
