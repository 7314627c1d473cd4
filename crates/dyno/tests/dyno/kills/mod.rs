//! SIGKILL of Dyno and of the server at random moments of every command, again and again: nothing hangs, nothing is lost, the next
//! command goes on, and what is called valid agrees with what the rows and the server say.
//!
//! `make faults` kills 200 of each and writes a table; a few are killed with every test.

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

use bench::Bench;
use command::Task;
use engine::{Engine, Victim};
use kill::Kill;
use lane::Lane;
use table::Table;

/// How many of Dyno and how many of each server a whole pass kills.
const COUNT: &str = "DYNO_FAULTS";

/// How many, where nobody says so.
const COUNT_DEFAULT: u64 = 200;

/// Words that a kill's name has to hold, each or one of several: `postgres|mariadb,of the server,sweep`.
const ONLY: &str = "DYNO_FAULTS_ONLY";

#[test]
fn a_short_pass_of_kills_on_sqlite() {
    short(Engine::Sqlite);
}

#[test]
fn a_short_pass_of_kills_on_postgres() {
    short(Engine::Postgres);
}

#[test]
fn a_short_pass_of_kills_on_mariadb() {
    short(Engine::MariaDb);
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
                    pass(engine, *victim, engine.tasks(*victim), count, seed, &mut |kill| {
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

/// One kill of each command that takes a moment, of whatever can be killed there.
fn short(engine: Engine) {
    let mut missed = String::new();
    for victim in engine.victims() {
        let tasks: Vec<Task> = engine.tasks(*victim).iter().copied().filter(|task| task.is_quick()).collect();
        let count = match victim {
            Victim::Dyno => tasks.len(),
            // A server takes its time to come back.
            Victim::Server => tasks.len().min(3),
        };
        pass(engine, *victim, &tasks, count as u64, draw::seed(), &mut |kill| {
            kill.misses.iter().for_each(|miss| missed.push_str(&format!("{}: {miss}\n", kill.name())));
        });
    }
    assert!(missed.is_empty(), "{missed}");
}

/// Kills `count` times, the commands by turns.
fn pass(engine: Engine, victim: Victim, tasks: &[Task], count: u64, seed: u64, tell: &mut dyn FnMut(&Kill)) {
    let Some(bench) = Bench::start(engine) else { return };
    let only = std::env::var(ONLY).unwrap_or_default();
    let is_wanted = |name: &str| {
        only.split(',').all(|word| word.is_empty() || word.split('|').any(|word| name.contains(word)))
    };
    eprintln!("{} of {victim}: {}={seed}", engine.name(), draw::SEED);
    let mut lane = Lane::new(bench, victim, seed);
    for number in 0..count {
        let task = tasks[usize::try_from(number).unwrap() % tasks.len()];
        if is_wanted(&kill::name(engine, victim, task, number)) {
            let kill = lane.kill_or_say(task, number);
            let held = if kill.misses.is_empty() { "holds" } else { "DOES NOT HOLD" };
            eprintln!("{} {}: {held}: {} {:?}", kill.name(), kill.at(), kill.found(), kill.misses);
            tell(&kill);
        }
    }
}
