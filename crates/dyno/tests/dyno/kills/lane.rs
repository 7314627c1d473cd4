//! One kill after the other on one database, each at a moment of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::bench::Bench;
use super::bounded::{Program, brief, succeeds};
use super::command::{self, Task};
use super::draw::Draw;
use super::engine::Victim;
use super::figures::{self, Reading};
use super::follow_up;
use super::judge::{self, Run};
use super::kill::Kill;
use super::table;
use crate::common::{Desk, Said};

/// Moments are drawn from a little more than the command takes, so that some come when it has just ended.
const BEYOND: f64 = 1.1;

/// All kills of one victim on one database.
pub(crate) struct Lane {
    bench: Bench,
    victim: Victim,
    seed: u64,
    /// How long each command takes when nobody kills it.
    typical: Vec<(Task, Duration)>,
}

impl Lane {
    pub(crate) fn new(bench: Bench, victim: Victim, seed: u64) -> Self {
        let typical = vec![(Task::Load, bench.load_took)];
        Self { bench, victim, seed, typical }
    }

    /// One kill. If it cannot be made, that is said, and all is made anew for the next.
    pub(crate) fn kill_or_say(&mut self, task: Task, number: u64) -> Kill {
        let engine = self.bench.engine;
        let mut draw = Draw::of(self.seed, &format!("{}{}", engine.name(), self.victim), number);
        let typical = self.typical.iter().rev().find(|(known, _)| *known == task);
        let typical = typical.map_or(task.guess(), |(_, took)| *took);
        let mut kill = Kill {
            engine,
            victim: self.victim,
            task,
            number,
            moment: typical.mul_f64(draw.fraction() * BEYOND),
            came_late: false,
            states: Vec::new(),
            compared: 0,
            misses: Vec::new(),
        };
        let desk = Desk::new();
        let made = catch_unwind(AssertUnwindSafe(|| self.kill(&mut kill, &desk, draw.coin())));
        match made {
            Ok(Ok(())) => {}
            Ok(Err(said)) => kill.misses.push(said),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                kill.misses.push(format!("it could not be judged: {why}"));
            }
        }
        if !kill.misses.is_empty() {
            let kept = table::file().with_file_name(format!("{}.sqlite3", kill.name().replace(' ', "-")));
            // There may be none yet.
            if std::fs::copy(desk.file("runs.sqlite3"), &kept).is_ok() {
                kill.misses.push(format!("its runs: {}", kept.display()));
            }
            self.bench.renew();
        }
        kill
    }

    fn kill(&mut self, kill: &mut Kill, desk: &Desk, at_once: bool) -> Result<(), String> {
        let url = self.bench.url();
        kill.task.set_up(desk);
        if kill.task == Task::Load {
            succeeds(&Desk::new(), &Task::Drop.arguments(&url))?;
        }
        let has_rows = !matches!(kill.task, Task::Load | Task::Drop);
        let from = has_rows.then(|| self.bench.reading());
        let mut program = Program::start(desk, &kill.task.arguments(&url));
        kill.came_late = program.has_ended_within(kill.moment);
        match self.victim {
            Victim::Dyno => program.kill(),
            Victim::Server => {
                self.bench.kill_server();
                if at_once {
                    self.bench.start_server();
                }
            }
        }
        let ended = program.end();
        if self.victim == Victim::Server && !at_once {
            self.bench.start_server();
        }
        let (said, took) = ended?;
        if kill.came_late && said.code == 0 {
            self.typical.push((kill.task, took));
        }
        kill.misses.extend(self.bench.leftovers());
        let is_cut_off = judge::repository(desk)?;
        let runs = judge::runs(desk)?;
        let mut states: Vec<String> = runs.iter().map(|run| run.status.clone()).collect();
        states.dedup();
        kill.states = states;
        kill.misses.extend(judge::statuses(&runs));
        self.judge_end(kill, &said, &runs);
        if let Some(from) = &from {
            self.judge_figures(kill, &runs, from);
        }
        follow_up::make(&self.bench, desk, &runs, is_cut_off, kill)?;
        succeeds(desk, &command::check(&url))?;
        judge::repository(desk).map(|_| ())
    }

    /// The exit code fits what happened.
    fn judge_end(&self, kill: &mut Kill, said: &Said, runs: &[Run]) {
        let all_valid = runs.iter().all(|run| matches!(run.status.as_str(), "valid" | "imported"));
        let fits = match (kill.came_late, self.victim) {
            (true, _) => said.code == 0 && all_valid,
            // It may have ended between the look and the signal, which a program that has ended takes, too.
            (false, Victim::Dyno) => said.code == -1 || (said.code == 0 && all_valid),
            // It may have needed the server no more.
            (false, Victim::Server) => match said.code {
                0 => all_valid,
                1 => !all_valid,
                code => code == 3,
            },
        };
        if !fits {
            let listed: Vec<&str> = runs.iter().map(|run| run.status.as_str()).collect();
            kill.misses.push(format!("exit code {} with {listed:?}: {}", said.code, brief(&said.err)));
        }
    }

    /// What is called valid although somebody was killed agrees with the rows; what was kept of the others is no more than they hold.
    fn judge_figures(&self, kill: &mut Kill, runs: &[Run], from: &Reading) {
        let to = self.bench.reading();
        let valid = judge::records(runs, "valid");
        kill.compared += valid.len();
        let has_whole = |record: &serde_json::Value| !record["whole"].is_null();
        let is_all = kill.came_late && valid.len() == runs.len() && valid.iter().all(has_whole);
        let found = match is_all {
            true => figures::exact(&valid, from, &to, self.victim == Victim::Dyno),
            false => figures::bounds(&valid, from, &to),
        };
        kill.misses.extend(found);
        if kill.task == Task::Soak {
            for record in judge::records(runs, "interrupted") {
                kill.compared += 1;
                kill.misses.extend(figures::kept(&record, from, &to));
            }
        }
    }
}
