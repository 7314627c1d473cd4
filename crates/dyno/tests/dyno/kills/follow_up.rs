//! What comes after a kill: the same command again, or the one that goes on, without anything done by hand.

use std::collections::BTreeSet;

use serde_json::Value;

use super::bench::Bench;
use super::bounded::succeeds;
use super::command::{self, IMPORTED, SWEPT, Task};
use super::judge::{self, Run};
use super::{figures, kill::Kill};
use crate::common::Desk;

/// Does it and judges it, figures included. `before` are the runs that were there; `is_cut_off` is whether there is a
/// sweep to go on with.
pub(crate) fn make(
    bench: &Bench,
    desk: &Desk,
    before: &[Run],
    is_cut_off: bool,
    kill: &mut Kill,
) -> Result<(), String> {
    match kill.task {
        Task::Load => load(bench, desk, kill),
        Task::Drop => drop_and_load(bench, desk),
        Task::Import => import(desk, before, kill),
        Task::Sweep => {
            let arguments = if is_cut_off { command::resume() } else { kill.task.arguments(&bench.url()) };
            measured(bench, desk, before, &arguments, kill)?;
            swept(desk, if is_cut_off { &[] } else { before }, kill)
        }
        // A soak of 13 s again would show no more than a run does.
        Task::Soak => measured(bench, desk, before, &Task::Run.arguments(&bench.url()), kill),
        Task::Run | Task::ServerDrive | Task::Prove => {
            measured(bench, desk, before, &kill.task.arguments(&bench.url()), kill)
        }
    }
}

/// Runs again, and compares the figures of every new run with the rows and the server's counters.
fn measured(
    bench: &Bench,
    desk: &Desk,
    before: &[Run],
    arguments: &[String],
    kill: &mut Kill,
) -> Result<(), String> {
    let from = bench.reading();
    let (said, took) = succeeds(desk, arguments)?;
    kill.misses.extend(bench.leftovers());
    let to = bench.reading();
    let runs = judge::runs(desk)?;
    let new: Vec<Run> = runs.into_iter().filter(|run| before.iter().all(|old| old.id != run.id)).collect();
    kill.misses.extend(judge::statuses(&new));
    // A proof proves what it proves, whatever its run is worth as a measurement; elsewhere exit code 0 promises a valid run.
    let records: Vec<Value> = match kill.task {
        Task::Prove => new.iter().filter_map(|run| run.record.clone()).collect(),
        _ => judge::records(&new, "valid"),
    };
    if records.len() != new.len() {
        kill.misses.push(format!("{} of {} runs after the kill are valid", records.len(), new.len()));
    }
    kill.compared += records.len();
    kill.misses.extend(figures::exact(&records, &from, &to, true));
    kill.misses.extend(figures::by_the_clock(&records, took));
    if kill.task == Task::Prove {
        let proof: Value = serde_json::from_str(&said.out).map_err(|error| format!("prove: {error}"))?;
        if proof["account"]["rows_acknowledged"].as_i64() != Some(to.updates - from.updates) {
            kill.misses.push(format!("the proof's account differs from the rows: {}", proof["account"]));
        }
    }
    Ok(())
}

/// Each point of the sweep was run once, and is valid. `others` are the runs of a sweep before it.
fn swept(desk: &Desk, others: &[Run], kill: &mut Kill) -> Result<(), String> {
    let mut runs = judge::runs(desk)?;
    runs.retain(|run| others.iter().all(|other| other.id != run.id));
    let valid = judge::records(&runs, "valid");
    let place = |record: &Value| format!("{} {}", record["part_of"]["point"], record["part_of"]["repeat"]);
    let places: BTreeSet<String> = valid.iter().map(place).collect();
    if valid.len() != SWEPT || places.len() != SWEPT {
        kill.misses.push(format!("{} valid runs at {} places of {SWEPT}", valid.len(), places.len()));
    }
    Ok(())
}

/// Resumes, to the very rows of a load that nobody disturbed.
fn load(bench: &Bench, desk: &Desk, kill: &mut Kill) -> Result<(), String> {
    succeeds(desk, &Task::Load.arguments(&bench.url()))?;
    kill.compared += 1;
    if bench.rows() != bench.loaded {
        kill.misses.push("the rows are not those of a load that was not killed".to_owned());
    }
    Ok(())
}

/// Drops the rest, to the last table.
fn drop_and_load(bench: &Bench, desk: &Desk) -> Result<(), String> {
    succeeds(desk, &Task::Drop.arguments(&bench.url()))?;
    let left = bench.tables();
    succeeds(desk, &Task::Load.arguments(&bench.url()))?;
    if left == 0 { Ok(()) } else { Err(format!("{left} tables are left after the drop")) }
}

/// All of the file is there or nothing, and all of it after it was imported again.
fn import(desk: &Desk, before: &[Run], kill: &mut Kill) -> Result<(), String> {
    let had = i64::try_from(before.len()).unwrap();
    if had != 0 && had != IMPORTED {
        kill.misses.push(format!("{had} of {IMPORTED} records were imported"));
    }
    succeeds(desk, &Task::Import.arguments(""))?;
    let has = i64::try_from(judge::runs(desk)?.len()).unwrap();
    kill.compared += 1;
    if has - had != IMPORTED {
        kill.misses.push(format!("{} of {IMPORTED} records were imported the second time", has - had));
    }
    Ok(())
}
