//! Tests of campaigns in the repository.

use serde_json::json;

use super::*;
use crate::membership::{PartOf, PointSetting, SweepKind};
use crate::record::RunRecord;
use crate::{StartedSweep, sample};

fn sweep(id: &str, started_at: &str) -> StartedSweep {
    StartedSweep {
        id: id.into(),
        kind: SweepKind::Sweep,
        started_at: started_at.into(),
        target: "sqlite:x.db".into(),
        runs_planned: Some(4),
        definition: json!({ "repeats": 2 }),
    }
}

fn part(sweep: &str, point: u32, repeat: u32) -> PartOf {
    PartOf {
        id: sweep.into(),
        kind: SweepKind::Sweep,
        point,
        repeat,
        side: None,
        settings: vec![PointSetting { key: "sessions".into(), value: "8".into() }],
    }
}

fn record(id: &str, started_at: &str, part: PartOf) -> RunRecord {
    RunRecord { id: id.into(), started_at: started_at.into(), part_of: Some(part), ..sample::full() }
}

fn repository() -> (tempfile::TempDir, Repository) {
    let directory = tempfile::tempdir().unwrap();
    let repository = Repository::open(&directory.path().join("r.sqlite3")).unwrap();
    (directory, repository)
}

#[test]
fn sweep_knows_its_runs_and_remaining_work() {
    let (_directory, repository) = repository();
    repository.begin_sweep(&sweep("sweep-1", "2026-03-21T14:00:00.000000Z")).unwrap();
    let run = record("r1", "2026-03-21T14:00:01Z", part("sweep-1", 1, 1));
    let mut started = StartedRun::by_this_process(
        run.id.clone(),
        run.started_at.clone(),
        "sqlite",
        "sqlite:x.db",
        run.plan.clone(),
    );
    started.part_of = run.part_of.clone();
    repository.begin(&started).unwrap();
    assert_eq!(repository.started("r1").unwrap().unwrap(), started);
    assert_eq!(repository.sweep_summary("last").unwrap().runs_done, 0, "it has only begun");
    repository.finish(&run).unwrap();
    repository.finish(&record("r2", "2026-03-21T14:00:02Z", part("sweep-1", 2, 1))).unwrap();
    repository.finish(&RunRecord { id: "alone".into(), ..sample::full() }).unwrap();

    let summary = repository.sweep_summary("sweep-").unwrap();
    assert_eq!((summary.runs_done, summary.runs_planned, summary.status.name()), (2, Some(4), "running"));
    let runs = repository.runs_of_sweep("sweep-1").unwrap();
    assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["r1", "r2"]);
    assert_eq!(runs[1].part_of, Some(part("sweep-1", 2, 1)));
    assert_eq!(repository.sweep_definition("last").unwrap()["repeats"], 2);
    assert_eq!(repository.load("r2").unwrap().part_of, Some(part("sweep-1", 2, 1)));

    repository.delete("r2").unwrap();
    assert_eq!(repository.runs_of_sweep("sweep-1").unwrap().len(), 1);
}

#[test]
fn stopped_sweep_can_resume_and_running_one_cannot() {
    let (_directory, repository) = repository();
    repository.begin_sweep(&sweep("sweep-1", "2026-03-21T14:00:00Z")).unwrap();
    let error = repository.resume_sweep("sweep-1").unwrap_err();
    assert!(error.to_string().contains("still running"), "{error}");
    repository.end_sweep("sweep-1", SweepState::Interrupted).unwrap();
    assert_eq!(repository.sweep_summary("last").unwrap().status, SweepState::Interrupted);
    repository.resume_sweep("sweep-1").unwrap();
    assert_eq!(repository.sweep_summary("last").unwrap().status, SweepState::Running);
    repository.end_sweep("sweep-1", SweepState::Done).unwrap();
    assert_eq!(repository.sweep_summary("last").unwrap().status, SweepState::Done);
}

#[test]
fn sweep_resolves_by_id_prefix_or_last() {
    let (_directory, repository) = repository();
    let error = repository.resolve_sweep("last").unwrap_err();
    assert!(matches!(error, RepositoryError::NoSuchSweep { .. }), "{error}");
    repository.begin_sweep(&sweep("sweep-1", "2026-03-21T14:00:00Z")).unwrap();
    repository.begin_sweep(&sweep("sweep-2", "2026-03-21T15:00:00Z")).unwrap();
    assert!(matches!(
        repository.begin_sweep(&sweep("sweep-2", "2026-03-21T15:00:00Z")),
        Err(RepositoryError::Exists { .. })
    ));
    assert_eq!(repository.resolve_sweep("last").unwrap(), "sweep-2");
    assert!(matches!(repository.resolve_sweep("sweep"), Err(RepositoryError::Ambiguous { .. })));
    let named: Vec<_> = repository.sweeps(None, 10).unwrap().into_iter().map(|sweep| sweep.id).collect();
    assert_eq!(named, ["sweep-2", "sweep-1"]);
    assert!(repository.sweeps(Some(SweepKind::Ab), 10).unwrap().is_empty());
}

#[test]
fn concurrent_resumes_of_one_sweep_admit_only_one() {
    let (directory, repository) = repository();
    for round in 0..10 {
        let id = format!("sweep-{round}");
        repository.begin_sweep(&sweep(&id, "2026-03-21T14:00:00Z")).unwrap();
        repository.end_sweep(&id, SweepState::Interrupted).unwrap();
        let barrier = std::sync::Barrier::new(4);
        let go_on = || {
            let connection = crate::Repository::open(&directory.path().join("r.sqlite3")).unwrap();
            barrier.wait();
            connection.resume_sweep(&id)
        };
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(go_on)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
        assert!(
            refused.clone().all(|error| matches!(error, RepositoryError::SweepRuns { .. })),
            "{outcomes:?}"
        );
    }
}
