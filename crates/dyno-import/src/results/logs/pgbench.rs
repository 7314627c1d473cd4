//! Reads pgbench's output at the end of a run. Its progress lines are ignored, because the result covers the
//! whole run.

use dyno_record::Unit;

use super::{LogParser, LogRun, after, number};

#[derive(Default)]
pub(super) struct Pgbench {
    run: Option<LogRun>,
    done: Vec<LogRun>,
    is_rated: bool,
    is_progress: bool,
    /// Whether results of individual scripts follow, which are parts of the one before.
    in_scripts: bool,
}

impl Pgbench {
    fn end(&mut self) {
        if let Some(run) = self.run.take().filter(|run| run.metrics.contains_key("ops_per_s")) {
            self.done.push(run);
        }
    }
}

impl LogParser for Pgbench {
    fn tool(&self) -> &'static str {
        "pgbench"
    }

    fn line(&mut self, line: u64, text: &str) -> Result<(), String> {
        self.is_progress |= text.starts_with("progress: ") && text.contains(" tps, lat ");
        if let Some(script) = after(text, "transaction type:") {
            self.end();
            (self.is_rated, self.in_scripts) = (false, false);
            let mut run = LogRun { line, ..LogRun::default() };
            run.label("transaction type", script);
            self.run = Some(run);
        }
        self.in_scripts |= text.starts_with("SQL script ") || text.starts_with("statement latencies");
        let Some(run) = &mut self.run else { return Ok(()) };
        if self.in_scripts {
            return Ok(());
        }
        for name in ["scaling factor", "query mode", "number of transactions actually processed"] {
            if let Some(value) = after(text, name).and_then(|value| value.strip_prefix(':')) {
                run.label(name, value);
            }
        }
        if let Some(failed) = after(text, "number of failed transactions:") {
            run.label("number of failed transactions", failed);
        }
        if let Some(clients) = after(text, "number of clients:") {
            run.sessions = clients.parse().ok();
        }
        if let Some(duration) = after(text, "duration:") {
            run.seconds = number(duration);
        }
        self.is_rated |= text.starts_with("rate limit schedule lag:");
        for (name, statistic) in [("latency average", "mean"), ("latency stddev", "stddev")] {
            if let Some(value) = after(text, name).and_then(|value| value.strip_prefix([':', '='])) {
                let Some(ms) = number(value) else { continue };
                run.metric(&format!("service_{statistic}_us"), ms * 1e3, Unit::Microseconds);
            }
        }
        if let Some(tps) = after(text, "tps =") {
            // Before version 14 there are two rates; the later one excludes connection time.
            if let Some(tps) = number(tps) {
                run.metric("ops_per_s", tps, Unit::PerSecond);
            }
            if self.is_rated {
                // With a rate, the latency includes the time in the queue.
                for statistic in ["mean", "stddev"] {
                    if let Some(value) = run.metrics.remove(&format!("service_{statistic}_us")) {
                        run.metrics.insert(format!("response_{statistic}_us"), value);
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<LogRun>, String> {
        self.end();
        match self.done.is_empty() && self.is_progress {
            true => Err("this is pgbench's progress without its result: pgbench prints the result to stdout, at its end".to_owned()),
            false => Ok(self.done),
        }
    }
}
