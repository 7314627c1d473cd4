//! Kills Dyno and the server with SIGKILL at random times of every command. Nothing hangs, nothing is lost,
//! the next command continues, and valid runs agree with the rows and the server's counters.
//!
//! `make faults` kills each 200 times and writes a table; every test run includes a few kills.

mod bench;
mod bounded;
mod command;
pub(crate) mod draw;
mod engine;
mod figures;
mod follow_up;
mod judge;
mod kill;
mod lane;
mod table;

use std::sync::Mutex;
use std::time::Instant;

use bench::KillBench;
use command::KillTask;
use engine::{Engine, Victim};
use kill::KillResult;
use lane::KillSeries;
use table::Table;

/// Variable with the number of kills of Dyno and of each server in a full pass.
const COUNT: &str = "DYNO_FAULTS";

/// Number of kills by default.
const COUNT_DEFAULT: u64 = 200;

/// Words that a kill's name must contain, each with alternatives: `postgres|mariadb,of the server,sweep`.
const ONLY: &str = "DYNO_FAULTS_ONLY";

#[test]
fn quick_kill_pass_on_sqlite_holds() {
    run_short_pass(Engine::Sqlite);
}

#[test]
fn quick_kill_pass_on_postgres_holds() {
    run_short_pass(Engine::Postgres);
}

#[test]
fn quick_kill_pass_on_mariadb_holds() {
    run_short_pass(Engine::MariaDb);
}

#[test]
#[ignore = "takes an hour: make faults"]
fn every_command_survives_kills() {
    let count = std::env::var(COUNT).ok().and_then(|count| count.parse().ok()).unwrap_or(COUNT_DEFAULT);
    let (seed, began) = (draw::seed(), Instant::now());
    let table = Mutex::new(Table::new(seed));
    std::thread::scope(|scope| {
        for engine in Engine::ALL {
            let table = &table;
            scope.spawn(move || {
                for victim in engine.victims() {
                    run_kills(engine, *victim, engine.tasks(*victim), count, seed, &mut |kill| {
                        table.lock().unwrap().add(kill, began.elapsed().as_secs_f64());
                    });
                }
            });
        }
    });
    let table = table.into_inner().unwrap();
    let file = table::file();
    eprintln!("{} kills, {} do not hold: {}", table.kills(), table.missed(), file.display());
    assert!(table.missed() == 0, "see {}", file.display());
}

/// One kill of each command that takes some time, for every possible victim.
fn run_short_pass(engine: Engine) {
    let mut missed = String::new();
    for victim in engine.victims() {
        let tasks: Vec<KillTask> =
            engine.tasks(*victim).iter().copied().filter(|task| task.is_quick()).collect();
        let count = match victim {
            Victim::Dyno => tasks.len(),
            // A server takes time to restart.
            Victim::Server => tasks.len().min(3),
        };
        run_kills(engine, *victim, &tasks, count as u64, draw::seed(), &mut |kill| {
            kill.misses.iter().for_each(|miss| missed.push_str(&format!("{}: {miss}\n", kill.name())));
        });
    }
    assert!(missed.is_empty(), "{missed}");
}

/// Kills `count` times, with the commands in rotation.
fn run_kills(
    engine: Engine,
    victim: Victim,
    tasks: &[KillTask],
    count: u64,
    seed: u64,
    tell: &mut dyn FnMut(&KillResult),
) {
    let Some(bench) = KillBench::start(engine) else { return };
    let only = std::env::var(ONLY).unwrap_or_default();
    let is_wanted = |name: &str| {
        only.split(',').all(|word| word.is_empty() || word.split('|').any(|word| name.contains(word)))
    };
    eprintln!("{} of {victim}: {}={seed}", engine.name(), draw::SEED);
    let mut lane = KillSeries::new(bench, victim, seed);
    for number in 0..count {
        let task = tasks[usize::try_from(number).unwrap() % tasks.len()];
        if is_wanted(&kill::name(engine, victim, task, number)) {
            let kill = lane.kill_or_report(task, number);
            let held = if kill.misses.is_empty() { "holds" } else { "DOES NOT HOLD" };
            eprintln!("{} {}: {held}: {} {:?}", kill.name(), kill.moment_text(), kill.summary(), kill.misses);
            tell(&kill);
        }
    }
}
