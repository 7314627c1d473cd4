//! One kill, and what came of it.

use std::time::Duration;

use super::command::Task;
use super::engine::{Engine, Victim};

/// A kill and what came of it.
pub(crate) struct Kill {
    pub(crate) engine: Engine,
    pub(crate) victim: Victim,
    pub(crate) task: Task,
    pub(crate) number: u64,
    /// When, after the start of the command.
    pub(crate) moment: Duration,
    /// Whether the command had come to its end by then.
    pub(crate) came_late: bool,
    /// How its runs were listed afterwards.
    pub(crate) states: Vec<String>,
    /// Results that were called good, and held against another reading.
    pub(crate) compared: usize,
    /// What does not hold.
    pub(crate) misses: Vec<String>,
}

impl Kill {
    pub(crate) fn name(&self) -> String {
        name(self.engine, self.victim, self.task, self.number)
    }

    pub(crate) fn at(&self) -> String {
        format!(
            "after {:.3} s{}",
            self.moment.as_secs_f64(),
            if self.came_late { ", when it had ended" } else { "" }
        )
    }

    pub(crate) fn found(&self) -> String {
        let states = if self.states.is_empty() { "no run".to_owned() } else { self.states.join(", ") };
        format!("{states}; {} compared", self.compared)
    }
}

/// What a kill is called: `kill 17 of the server on postgres, in sweep`.
pub(crate) fn name(engine: Engine, victim: Victim, task: Task, number: u64) -> String {
    format!("kill {number} of {victim} on {}, in {}", engine.name(), task.name())
}
