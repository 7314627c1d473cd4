//! Reads go-tpc's output at the end of a TPC-C run.

use dyno_record::Unit;

use super::{LogParser, LogRun, number};

#[derive(Default)]
pub(super) struct GoTpc {
    run: LogRun,
    done: Vec<LogRun>,
}

/// The number after `name` in a list such as `Takes(s): 59.9, Count: 120`.
fn value(list: &str, name: &str) -> Option<f64> {
    let cell = list.split(',').find_map(|cell| cell.trim().strip_prefix(name)?.strip_prefix(':'))?;
    number(cell)
}

impl LogParser for GoTpc {
    fn tool(&self) -> &'static str {
        "go-tpc"
    }

    fn line(&mut self, line: u64, text: &str) -> Result<(), String> {
        if let Some((class, list)) = text.strip_prefix("[Summary] ").and_then(|text| text.split_once(" - ")) {
            let class = class.trim().to_ascii_lowercase();
            if class.ends_with("_err") {
                let count = value(list, "Count").unwrap_or(0.0);
                self.run.label(&class, &count.to_string());
                return Ok(());
            }
            let (Some(seconds), Some(count)) = (value(list, "Takes(s)"), value(list, "Count")) else {
                return Ok(());
            };
            // Classes begin at slightly different times; the longest gives the run's length.
            self.run.seconds = Some(self.run.seconds.map_or(seconds, |longest: f64| longest.max(seconds)));
            self.run.metric(&format!("{class}_per_s"), count / seconds, Unit::PerSecond);
            for (name, statistic) in
                [("Avg(ms)", "mean"), ("50th(ms)", "p50"), ("95th(ms)", "p95"), ("99th(ms)", "p99")]
            {
                if let Some(ms) = value(list, name) {
                    self.run.metric(&format!("{class}_{statistic}_us"), ms * 1e3, Unit::Microseconds);
                }
            }
        }
        if text.starts_with("tpmC: ") {
            let mut run = std::mem::take(&mut self.run);
            run.line = line;
            run.label("result", text);
            if let Some(new_orders) = value(text, "tpmC") {
                run.metric("new_orders_per_s", new_orders / 60.0, Unit::PerSecond);
            }
            if let Some(all) = value(text, "tpmTotal") {
                run.metric("ops_per_s", all / 60.0, Unit::PerSecond);
            }
            self.done.push(run);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<LogRun>, String> {
        Ok(self.done)
    }
}
