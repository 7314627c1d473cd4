//! Consecutive kills on one database, each at its own random time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::bench::KillBench;
use super::bounded::{BoundedProcess, run_successfully, summarize_errors};
use super::command::{self, KillTask};
use super::draw::KillDraw;
use super::engine::Victim;
use super::figures::{self, DatabaseReading};
use super::follow_up;
use super::judge::{self, ListedRun};
use super::kill::KillResult;
use super::table;
use crate::common::{CommandOutput, TestEnv};

/// Times are drawn from slightly more than the command's duration, so that some come after its end.
const BEYOND: f64 = 1.1;

/// All kills of one victim on one database.
pub(crate) struct KillSeries {
    bench: KillBench,
    victim: Victim,
    seed: u64,
    /// Duration of each undisturbed command.
    typical_durations: Vec<(KillTask, Duration)>,
}

impl KillSeries {
    pub(crate) fn new(bench: KillBench, victim: Victim, seed: u64) -> Self {
        let typical = vec![(KillTask::Load, bench.load_took)];
        Self { bench, victim, seed, typical_durations: typical }
    }

    /// One kill. If it cannot be done, this is reported, and the data is recreated for the next.
    pub(crate) fn kill_or_report(&mut self, task: KillTask, number: u64) -> KillResult {
        let engine = self.bench.engine;
        let mut draw = KillDraw::for_kill(self.seed, &format!("{}{}", engine.name(), self.victim), number);
        let typical = self.typical_durations.iter().rev().find(|(known, _)| *known == task);
        let typical = typical.map_or(task.typical_duration(), |(_, took)| *took);
        let mut kill = KillResult {
            engine,
            victim: self.victim,
            task,
            number,
            moment: typical.mul_f64(draw.fraction() * BEYOND),
            was_late: false,
            states: Vec::new(),
            compared: 0,
            misses: Vec::new(),
        };
        let desk = TestEnv::new();
        let made = catch_unwind(AssertUnwindSafe(|| self.kill(&mut kill, &desk, draw.next_bool())));
        match made {
            Ok(Ok(())) => {}
            Ok(Err(message)) => kill.misses.push(message),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                kill.misses.push(format!("it could not be judged: {why}"));
            }
        }
        if !kill.misses.is_empty() {
            let repository_copy =
                table::file().with_file_name(format!("{}.sqlite3", kill.name().replace(' ', "-")));
            // The repository may not exist yet.
            if std::fs::copy(desk.file("runs.sqlite3"), &repository_copy).is_ok() {
                kill.misses.push(format!("its runs: {}", repository_copy.display()));
            }
            self.bench.renew();
        }
        kill
    }

    fn kill(&mut self, kill: &mut KillResult, desk: &TestEnv, at_once: bool) -> Result<(), String> {
        let url = self.bench.url();
        kill.task.set_up(desk);
        if kill.task == KillTask::Load {
            run_successfully(&TestEnv::new(), &KillTask::Drop.arguments(&url))?;
        }
        let has_rows = !matches!(kill.task, KillTask::Load | KillTask::Drop);
        let from = has_rows.then(|| self.bench.reading());
        let mut program = BoundedProcess::start(desk, &kill.task.arguments(&url));
        kill.was_late = program.has_ended_within(kill.moment);
        match self.victim {
            Victim::Dyno => program.kill(),
            Victim::Server => {
                self.bench.kill_server();
                if at_once {
                    self.bench.start_server();
                }
            }
        }
        let exit_result = program.wait();
        if self.victim == Victim::Server && !at_once {
            self.bench.start_server();
        }
        let (output, took) = exit_result?;
        if kill.was_late && output.code == 0 {
            self.typical_durations.push((kill.task, took));
        }
        kill.misses.extend(self.bench.leftovers());
        let is_cut_off = judge::check_repository(desk)?;
        let runs = judge::list_runs(desk)?;
        let mut states: Vec<String> = runs.iter().map(|run| run.status.clone()).collect();
        states.dedup();
        kill.states = states;
        kill.misses.extend(judge::status_misses(&runs));
        self.judge_end(kill, &output, &runs);
        if let Some(from) = &from {
            self.judge_figures(kill, &runs, from);
        }
        follow_up::run_follow_up(&self.bench, desk, &runs, is_cut_off, kill)?;
        run_successfully(desk, &command::check_arguments(&url))?;
        judge::check_repository(desk).map(|_| ())
    }

    /// Checks that the exit code fits what happened.
    fn judge_end(&self, kill: &mut KillResult, output: &CommandOutput, runs: &[ListedRun]) {
        let all_valid = runs.iter().all(|run| matches!(run.status.as_str(), "valid" | "imported"));
        let fits = match (kill.was_late, self.victim) {
            (true, _) => output.code == 0 && all_valid,
            // The command may have ended between the check and the signal.
            (false, Victim::Dyno) => output.code == -1 || (output.code == 0 && all_valid),
            // The command may no longer have needed the server.
            (false, Victim::Server) => match output.code {
                0 => all_valid,
                1 => !all_valid,
                code => code == 3,
            },
        };
        if !fits {
            let listed: Vec<&str> = runs.iter().map(|run| run.status.as_str()).collect();
            kill.misses.push(format!(
                "exit code {} with {listed:?}: {}",
                output.code,
                summarize_errors(&output.err)
            ));
        }
    }

    /// Valid runs agree with the rows despite the kill; stored parts of other runs contain no more than the
    /// rows.
    fn judge_figures(&self, kill: &mut KillResult, runs: &[ListedRun], from: &DatabaseReading) {
        let to = self.bench.reading();
        let valid = judge::records_with_status(runs, "valid");
        kill.compared += valid.len();
        let has_whole = |record: &serde_json::Value| !record["whole"].is_null();
        let is_all = kill.was_late && valid.len() == runs.len() && valid.iter().all(has_whole);
        let mismatches = match is_all {
            true => figures::compare_exact(&valid, from, &to, self.victim == Victim::Dyno),
            false => figures::compare_bounds(&valid, from, &to),
        };
        kill.misses.extend(mismatches);
        if kill.task == KillTask::Soak {
            for record in judge::records_with_status(runs, "interrupted") {
                kill.compared += 1;
                kill.misses.extend(figures::compare_kept_series(&record, from, &to));
            }
        }
    }
}
