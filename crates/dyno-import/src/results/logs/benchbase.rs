//! Reads the JSON summary of BenchBase.

use dyno_record::Unit;
use jiff::Timestamp;
use serde_json::Value;

use super::{LogParser, LogRun};

/// Larger files are not read as a summary, in bytes.
const BYTES_MAX: usize = 1 << 20;

#[derive(Default)]
pub(super) struct BenchBase {
    /// The text as long as it may be a summary.
    text: Option<String>,
}

impl LogParser for BenchBase {
    fn tool(&self) -> &'static str {
        "BenchBase"
    }

    fn line(&mut self, number: u64, text: &str) -> Result<(), String> {
        if number == 1 {
            self.text = text.trim_start().starts_with('{').then(String::new);
        }
        if let Some(all) = &mut self.text {
            all.push_str(text);
            all.push('\n');
        }
        if self.text.as_ref().is_some_and(|all| all.len() > BYTES_MAX) {
            self.text = None;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<LogRun>, String> {
        let Some(summary) = self.text.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
            return Ok(Vec::new());
        };
        // Some versions put numbers in quotation marks.
        let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
        let (Some(_), Some(throughput)) =
            (summary.get("Benchmark Type"), number(&summary["Throughput (requests/second)"]))
        else {
            return Ok(Vec::new());
        };
        let mut run = LogRun { line: 1, ..LogRun::default() };
        run.sessions = number(&summary["terminals"])
            .filter(|terminals| (0.0..=f64::from(u32::MAX)).contains(terminals))
            .map(|terminals| terminals as u32);
        run.seconds = number(&summary["Elapsed Time (nanoseconds)"]).map(|elapsed| elapsed / 1e9);
        run.started_at = number(&summary["Start timestamp (milliseconds)"])
            .and_then(|start| Timestamp::from_millisecond(start as i64).ok());
        for name in [
            "Benchmark Type",
            "DBMS Type",
            "DBMS Version",
            "scalefactor",
            "isolation",
            "Final State",
            "Measured Requests",
        ] {
            match &summary[name] {
                Value::Null => {}
                Value::String(text) => run.label(name, text),
                other => run.label(name, &other.to_string()),
            }
        }
        run.metric("requests_per_s", throughput, Unit::PerSecond);
        // Successful requests only; throughput also includes those rolled back.
        if let Some(goodput) = number(&summary["Goodput (requests/second)"]) {
            run.metric("ops_per_s", goodput, Unit::PerSecond);
        }
        let latencies = &summary["Latency Distribution"];
        for (name, statistic) in [
            ("Average", "mean"),
            ("Minimum", "min"),
            ("Median", "p50"),
            ("95th Percentile", "p95"),
            ("99th Percentile", "p99"),
            ("Maximum", "max"),
        ] {
            if let Some(latency) = number(&latencies[format!("{name} Latency (microseconds)")]) {
                run.metric(&format!("service_{statistic}_us"), latency, Unit::Microseconds);
            }
        }
        Ok(vec![run])
    }
}
