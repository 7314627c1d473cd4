//! Reads sysbench's output at the end of a run.

use dyno_record::Unit;

use super::{LogParser, LogRun, after, number};

#[derive(Default)]
pub(super) struct Sysbench {
    threads: Option<u32>,
    rate: Option<f64>,
    /// The result being read, after `SQL statistics` or `General statistics`.
    run: Option<LogRun>,
    done: Vec<LogRun>,
}

impl Sysbench {
    fn end(&mut self) {
        if let Some(run) = self.run.take().filter(|run| run.metrics.contains_key("ops_per_s")) {
            self.done.push(run);
        }
    }
}

impl LogParser for Sysbench {
    fn tool(&self) -> &'static str {
        "sysbench"
    }

    fn line(&mut self, line: u64, text: &str) -> Result<(), String> {
        if let Some(threads) = after(text, "Number of threads:") {
            self.end();
            (self.threads, self.rate) = (threads.parse().ok(), None);
        }
        if let Some(rate) = after(text, "Target transaction rate:") {
            self.rate = number(rate);
        }
        if text.starts_with("SQL statistics:") || text.starts_with("Throughput:") {
            self.end();
            self.run = Some(LogRun { line, sessions: self.threads, ..LogRun::default() });
        }
        // With a rate, the latency includes the time in the queue.
        let kind = if self.rate.is_some() { "response" } else { "service" };
        let Some(run) = &mut self.run else { return Ok(()) };
        let per_second = |text: &str| number(text.split_once('(')?.1);
        let metrics = [
            ("transactions:", "ops_per_s"),
            ("queries:", "queries_per_s"),
            ("ignored errors:", "errors_per_s"),
            ("reconnects:", "reconnects_per_s"),
        ];
        for (name, metric) in metrics {
            if let Some(rate) = after(text, name).and_then(per_second) {
                run.metric(metric, rate, Unit::PerSecond);
            }
        }
        if let Some(rate) = after(text, "events/s (eps):").and_then(number) {
            run.metric("ops_per_s", rate, Unit::PerSecond);
        }
        if let Some(seconds) = after(text, "total time:").or_else(|| after(text, "time elapsed:")) {
            run.seconds = number(seconds);
        }
        let latency = text.trim_start();
        for (name, statistic) in [("min:", "min"), ("avg:", "mean"), ("max:", "max")] {
            if let Some(ms) = after(latency, name).and_then(number) {
                run.metric(&format!("{kind}_{statistic}_us"), ms * 1e3, Unit::Microseconds);
            }
        }
        if let Some((percentile, ms)) = latency.split_once("th percentile:")
            && let (Ok(percentile), Some(ms)) = (percentile.parse::<u8>(), number(ms))
        {
            run.metric(&format!("{kind}_p{percentile}_us"), ms * 1e3, Unit::Microseconds);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<LogRun>, String> {
        self.end();
        Ok(self.done)
    }
}
