//! Reads HammerDB's log of a TPROC-C run.

use dyno_record::Unit;

use super::{LogParser, LogRun, number};

#[derive(Default)]
pub(super) struct HammerDb {
    sessions: Option<u32>,
    seconds: Option<f64>,
    done: Vec<LogRun>,
}

/// The number before a unit: `5390` in `achieved 5390 NOPM`.
fn before(text: &str, unit: &str) -> Option<f64> {
    text.split_once(unit)?.0.split_whitespace().last()?.parse().ok()
}

impl LogParser for HammerDb {
    fn tool(&self) -> &'static str {
        "HammerDB"
    }

    fn line(&mut self, line: u64, text: &str) -> Result<(), String> {
        let Some((_, message)) = text.split_once("Vuser ").and_then(|(_, text)| text.split_once(':')) else {
            return Ok(());
        };
        if message.contains(" Active Virtual Users configured") {
            self.sessions = message.split_whitespace().next().and_then(|count| count.parse().ok());
        }
        if let Some(period) = message.strip_prefix("Timing test period of ") {
            self.seconds =
                number(period).filter(|_| period.contains("in minutes")).map(|minutes| minutes * 60.0);
        }
        let Some(result) = message.strip_prefix("TEST RESULT : ") else { return Ok(()) };
        let Some(nopm) = before(result, " NOPM") else { return Ok(()) };
        let mut run =
            LogRun { line, sessions: self.sessions, seconds: self.seconds.take(), ..LogRun::default() };
        run.label("result", result);
        run.metric("new_orders_per_s", nopm / 60.0, Unit::PerSecond);
        // Transactions counted by the database; not all of them belong to the workload.
        if let Some((database, tpm)) = result.split_once(" from ").map(|(_, rest)| rest).and_then(|rest| {
            let mut words = rest.split_whitespace();
            let tpm: f64 = words.next()?.parse().ok()?;
            Some((words.next()?, tpm))
        }) {
            run.label("database", database);
            run.metric("database_transactions_per_s", tpm / 60.0, Unit::PerSecond);
        }
        self.done.push(run);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<LogRun>, String> {
        Ok(self.done)
    }
}
