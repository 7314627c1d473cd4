//! One kill and its result.

use std::time::Duration;

use super::command::KillTask;
use super::engine::{Engine, Victim};

/// A kill and its result.
pub(crate) struct KillResult {
    pub(crate) engine: Engine,
    pub(crate) victim: Victim,
    pub(crate) task: KillTask,
    pub(crate) number: u64,
    /// Time of the kill after the start of the command.
    pub(crate) moment: Duration,
    /// Whether the command had already ended.
    pub(crate) was_late: bool,
    /// Status of its runs afterwards.
    pub(crate) states: Vec<String>,
    /// Number of valid results that were compared with another reading.
    pub(crate) compared: usize,
    pub(crate) misses: Vec<String>,
}

impl KillResult {
    pub(crate) fn name(&self) -> String {
        name(self.engine, self.victim, self.task, self.number)
    }

    pub(crate) fn moment_text(&self) -> String {
        format!(
            "after {:.3} s{}",
            self.moment.as_secs_f64(),
            if self.was_late { ", when it had ended" } else { "" }
        )
    }

    pub(crate) fn summary(&self) -> String {
        let states = if self.states.is_empty() { "no run".to_owned() } else { self.states.join(", ") };
        format!("{states}; {} compared", self.compared)
    }
}

/// Name of a kill: `kill 17 of the server on postgres, in sweep`.
pub(crate) fn name(engine: Engine, victim: Victim, task: KillTask, number: u64) -> String {
    format!("kill {number} of {victim} on {}, in {}", engine.name(), task.name())
}
