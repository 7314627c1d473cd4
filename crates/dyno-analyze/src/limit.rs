//! Latency limits as users write them: `p99 <= 2ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use dyno_plan::TimeSpan;
use dyno_record::{Latency, RunRecord, WorkloadFacts};

use crate::number::time_us;

/// A figure of latency that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Mean,
    P50,
    P95,
    P99,
    P999,
    Max,
}

const FIGURES: [(&str, Figure); 6] = [
    ("mean", Figure::Mean),
    ("p50", Figure::P50),
    ("p95", Figure::P95),
    ("p99", Figure::P99),
    ("p999", Figure::P999),
    ("max", Figure::Max),
];

/// An upper limit of one figure of response time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The class of operations: `all`, `select`.
    pub class: String,
    figure: Figure,
    /// The highest value that is allowed.
    pub most: Duration,
}

/// The text is no valid limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid limit {text:?}: write mean, p50, p95, p99, p999 or max, `<=` and a duration, as in `p99 <= 2ms` \
     or `update.p95 <= 10ms`"
)]
pub struct LimitError {
    text: String,
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let error = || LimitError { text: text.to_owned() };
        let (name, most) = text.split_once("<=").or_else(|| text.split_once('<')).ok_or_else(error)?;
        let (class, name) = name.trim().split_once('.').unwrap_or(("all", name.trim()));
        let class_names =
            ["all", "select", "lookup", "secondary", "scan", "update", "insert", "delete", "commit"];
        let figure = FIGURES.iter().find(|(known, _)| *known == name).map(|(_, figure)| *figure);
        let most: TimeSpan = most.trim().parse().map_err(|_| error())?;
        match figure {
            Some(figure) if class_names.contains(&class) && !most.0.is_zero() => {
                Ok(Self { class: class.to_owned(), figure, most: most.0 })
            }
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FIGURES.iter().find(|(_, figure)| *figure == self.figure).map_or("", |(name, _)| name);
        let class = if self.class == "all" { String::new() } else { format!("{}.", self.class) };
        write!(f, "{class}{name} <= {}", TimeSpan(self.most))
    }
}

impl Limit {
    /// The measure of points that it limits: `response_p95_us`; `None` for a limit of one class.
    pub fn measure(&self) -> Option<String> {
        let name = FIGURES.iter().find(|(_, figure)| *figure == self.figure).map(|(name, _)| name)?;
        (self.class == "all").then(|| format!("response_{name}_us"))
    }

    /// The record's value of the limited figure, µs. It is response time, which in an open loop
    /// counts from the due time.
    pub fn measured_us(&self, record: &RunRecord) -> Option<f64> {
        let Latency { mean, p50, p95, p99, p999, max, .. } = &record.ops.get(&self.class)?.response_us;
        match self.figure {
            Figure::Mean => *mean,
            Figure::P50 => *p50,
            Figure::P95 => *p95,
            Figure::P99 => *p99,
            Figure::P999 => *p999,
            Figure::Max => *max,
        }
    }

    /// Whether the record keeps the limit; `None` where the figure is unknown.
    pub fn holds(&self, record: &RunRecord) -> Option<bool> {
        Some(self.measured_us(record)? <= self.most.as_secs_f64() * 1e6)
    }

    /// `p99 <= 2ms: 2.31 ms`: the limit and what was measured.
    pub fn words(&self, record: &RunRecord) -> String {
        match self.measured_us(record) {
            Some(us) => format!("{self}: {}", time_us(us)),
            None => format!("{self}: not measured"),
        }
    }
}

/// The share of an open loop's rate that must be reached: below it the queue grows without end.
pub const RATE_KEPT_MIN: f64 = 0.95;

/// Whether the run kept every limit and, in an open loop, its rate; `None` where that is unknown.
pub fn keeps(limits: &[Limit], record: &RunRecord) -> Option<bool> {
    let held = limits.iter().map(|limit| limit.holds(record)).collect::<Option<Vec<bool>>>()?;
    let workload_rates = |own: &WorkloadFacts| {
        let share = own.share.as_ref()?;
        Some((share.rate_per_s?, share.ops.as_ref()?.rate_per_s))
    };
    let rates: Vec<(f64, f64)> = match (record.beside.is_empty(), record.asked_per_s()) {
        (true, None) => Vec::new(),
        (true, Some(rate)) => vec![(rate, record.ops.get("all")?.rate_per_s)],
        (false, _) => record.workloads().filter_map(workload_rates).collect(),
    };
    let rates_kept = rates.iter().all(|(asked, done)| *done >= asked * RATE_KEPT_MIN);
    Some(rates_kept && held.iter().all(|&held| held))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn latency_limits_parse_and_round_trip() {
        for (text, shown) in [
            ("p99 <= 2ms", "p99 <= 2ms"),
            ("mean<500us", "mean <= 500us"),
            ("update.p999 <= 1s", "update.p999 <= 1s"),
            ("all.max<=10s", "max <= 10s"),
            ("insert.p95 <= 5ms", "insert.p95 <= 5ms"),
        ] {
            let limit: Limit = text.parse().unwrap();
            assert_eq!(limit.to_string(), shown);
            assert_eq!(shown.parse::<Limit>().unwrap(), limit);
        }
        for text in ["p99", "p98 <= 1ms", "p99 <= 2", "p99 >= 2ms", "fly.p99 <= 1ms", "p99 <= 0ms", ""] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }

    #[test]
    fn record_is_judged_by_its_limits_and_rate() {
        let mut record = fixture::sqlite();
        let us = record.ops["all"].response_us.p99.unwrap();
        let limit = |us: f64| format!("p99 <= {}us", us.ceil()).parse::<Limit>().unwrap();
        assert_eq!(keeps(&[limit(us)], &record), Some(true));
        assert_eq!(keeps(&[limit(us), limit(us / 2.0)], &record), Some(false));
        assert_eq!(keeps(&["lookup.p99 <= 1s".parse().unwrap()], &record), None);
        let rate = record.ops["all"].rate_per_s;
        record.plan.workload.rate = Some(dyno_plan::Rate(rate * 1.04));
        assert_eq!(keeps(&[limit(us)], &record), Some(true));
        record.plan.workload.rate = Some(dyno_plan::Rate(rate * 1.1));
        assert_eq!(keeps(&[limit(us)], &record), Some(false), "a queue that grows keeps no limit");
    }
}
