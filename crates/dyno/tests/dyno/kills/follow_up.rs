//! Runs the command again after a kill, or the command that resumes it, without manual repair.

use std::collections::BTreeSet;

use serde_json::Value;

use super::bench::KillBench;
use super::bounded::run_successfully;
use super::command::{self, IMPORTED, KillTask, SWEPT};
use super::judge::{self, ListedRun};
use super::{figures, kill::KillResult};
use crate::common::TestEnv;

/// Runs and judges it, figures included. `before` lists the earlier runs; `is_cut_off` states whether there
/// is a sweep to resume.
pub(crate) fn run_follow_up(
    bench: &KillBench,
    desk: &TestEnv,
    before: &[ListedRun],
    is_cut_off: bool,
    kill: &mut KillResult,
) -> Result<(), String> {
    match kill.task {
        KillTask::Load => load(bench, desk, kill),
        KillTask::Drop => drop_and_load(bench, desk),
        KillTask::Import => import(desk, before, kill),
        KillTask::Sweep => {
            let arguments = if is_cut_off { command::resume() } else { kill.task.arguments(&bench.url()) };
            rerun_and_compare(bench, desk, before, &arguments, kill)?;
            check_sweep_points(desk, if is_cut_off { &[] } else { before }, kill)
        }
        // Another soak of 13 s would show no more than a run.
        KillTask::Soak => {
            rerun_and_compare(bench, desk, before, &KillTask::Run.arguments(&bench.url()), kill)
        }
        KillTask::Run | KillTask::ServerDrive | KillTask::Prove => {
            rerun_and_compare(bench, desk, before, &kill.task.arguments(&bench.url()), kill)
        }
    }
}

/// Runs again, and compares the figures of every new run with the rows and the server's counters.
fn rerun_and_compare(
    bench: &KillBench,
    desk: &TestEnv,
    before: &[ListedRun],
    arguments: &[String],
    kill: &mut KillResult,
) -> Result<(), String> {
    let from = bench.reading();
    let (output, took) = run_successfully(desk, arguments)?;
    kill.misses.extend(bench.leftovers());
    let to = bench.reading();
    let runs = judge::list_runs(desk)?;
    let new: Vec<ListedRun> =
        runs.into_iter().filter(|run| before.iter().all(|old| old.id != run.id)).collect();
    kill.misses.extend(judge::status_misses(&new));
    // A proof is valid whatever the quality of its run as a measurement; for other commands exit code 0
    // promises a valid run.
    let records: Vec<Value> = match kill.task {
        KillTask::Prove => new.iter().filter_map(|run| run.record.clone()).collect(),
        _ => judge::records_with_status(&new, "valid"),
    };
    if records.len() != new.len() {
        kill.misses.push(format!("{} of {} runs after the kill are valid", records.len(), new.len()));
    }
    kill.compared += records.len();
    kill.misses.extend(figures::compare_exact(&records, &from, &to, true));
    kill.misses.extend(figures::check_wall_clock(&records, took));
    if kill.task == KillTask::Prove {
        let proof: Value = serde_json::from_str(&output.out).map_err(|error| format!("prove: {error}"))?;
        if proof["account"]["rows_acknowledged"].as_i64() != Some(to.updates - from.updates) {
            kill.misses.push(format!("the proof's account differs from the rows: {}", proof["account"]));
        }
    }
    Ok(())
}

/// Each point of the sweep was run once and is valid. `earlier_runs` are runs of an earlier sweep.
fn check_sweep_points(
    desk: &TestEnv,
    earlier_runs: &[ListedRun],
    kill: &mut KillResult,
) -> Result<(), String> {
    let mut runs = judge::list_runs(desk)?;
    runs.retain(|run| earlier_runs.iter().all(|other| other.id != run.id));
    let valid = judge::records_with_status(&runs, "valid");
    let place = |record: &Value| format!("{} {}", record["part_of"]["point"], record["part_of"]["repeat"]);
    let places: BTreeSet<String> = valid.iter().map(place).collect();
    if valid.len() != SWEPT || places.len() != SWEPT {
        kill.misses.push(format!("{} valid runs at {} places of {SWEPT}", valid.len(), places.len()));
    }
    Ok(())
}

/// Resumes the load; the rows must equal those of an undisturbed load.
fn load(bench: &KillBench, desk: &TestEnv, kill: &mut KillResult) -> Result<(), String> {
    run_successfully(desk, &KillTask::Load.arguments(&bench.url()))?;
    kill.compared += 1;
    if bench.rows_hash() != bench.loaded_rows_hash {
        kill.misses.push("the rows are not those of a load that was not killed".to_owned());
    }
    Ok(())
}

/// Drops the rest, to the last table.
fn drop_and_load(bench: &KillBench, desk: &TestEnv) -> Result<(), String> {
    run_successfully(desk, &KillTask::Drop.arguments(&bench.url()))?;
    let left = bench.table_count();
    run_successfully(desk, &KillTask::Load.arguments(&bench.url()))?;
    if left == 0 { Ok(()) } else { Err(format!("{left} tables are left after the drop")) }
}

/// Either all or none of the file was imported, and all of it after a second import.
fn import(desk: &TestEnv, before: &[ListedRun], kill: &mut KillResult) -> Result<(), String> {
    let had = i64::try_from(before.len()).unwrap();
    if had != 0 && had != IMPORTED {
        kill.misses.push(format!("{had} of {IMPORTED} records were imported"));
    }
    run_successfully(desk, &KillTask::Import.arguments(""))?;
    let has = i64::try_from(judge::list_runs(desk)?.len()).unwrap();
    kill.compared += 1;
    if has - had != IMPORTED {
        kill.misses.push(format!("{} of {IMPORTED} records were imported the second time", has - had));
    }
    Ok(())
}
