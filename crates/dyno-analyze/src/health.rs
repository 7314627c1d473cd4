//! Checks whether a platform delivers what was expected: limits on figures of a suite's tests.
//!
//! `storage-random-read >= 100000 at p99 <= 1ms`: the highest key figure of the test's steps that
//! keep the latency limit. `storage-random-read.redo_mb_per_s >= 40`: another figure, at the step
//! with the highest key figure.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use dyno_plan::TimeSpan;
use serde::Serialize;

use crate::conclusion::suite::{SuiteResult, SuiteTestResult, SuiteTestStep};
use crate::number::{figure, time_us};

/// The expectation for one figure of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The test's id, for example `storage-random-read`.
    pub test: String,
    /// A figure of its steps (`redo_mb_per_s`), or `alone`: the mean service time of a single
    /// session in µs. Absent for its key figure.
    pub figure: Option<String>,
    /// Whether `limit` is a minimum rather than a maximum.
    pub at_least: bool,
    /// The limit in the figure's unit; for times in µs.
    pub limit: f64,
    /// The latency limit that a step must keep: mean, p95 or p99 of service time.
    pub within: Option<(&'static str, Duration)>,
}

/// The outcome of an expectation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectationResult {
    /// The expectation as it was written.
    pub expected: String,
    /// The measured value with its unit, or why it is unknown.
    pub measured: Result<String, String>,
    /// Whether it is met; false where the value is unknown.
    pub met: bool,
    /// By how much the value misses the limit, %; absent where it is met or unknown.
    #[serde(skip)]
    pub missed_pct: Option<f64>,
}

/// The text is no valid expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid expectation {text:?}: write TEST, or TEST.FIGURE, `>=` or `<=`, a number or a time, and `at p99 \
     <= 1ms` for a latency limit, as in `storage-random-read >= 100000 at p99 <= 1ms` or \
     `server-lookup.alone <= 200us`"
)]
pub struct ExpectationError {
    text: String,
}

/// Latencies that an expectation can limit, with the corresponding figures of steps.
const WITHIN: [(&str, &str); 3] =
    [("mean", "service_mean_us"), ("p95", "service_p95_us"), ("p99", "service_p99_us")];

/// The name of the figure of a single session.
const ALONE: &str = "alone";

impl FromStr for Expectation {
    type Err = ExpectationError;

    fn from_str(text: &str) -> Result<Self, ExpectationError> {
        let error = || ExpectationError { text: text.to_owned() };
        let (what, within) = match text.split_once(" at ") {
            None => (text, None),
            Some((what, limit)) => {
                let (name, most) = limit.split_once("<=").ok_or_else(error)?;
                let latency_entry =
                    WITHIN.iter().find(|(known, _)| *known == name.trim()).ok_or_else(error)?;
                let most: TimeSpan = most.trim().parse().map_err(|_| error())?;
                (what, Some((latency_entry.0, most.0)))
            }
        };
        let (name, at_least, limit) = match (what.split_once(">="), what.split_once("<=")) {
            (Some((name, limit)), None) => (name.trim(), true, limit.trim()),
            (None, Some((name, limit))) => (name.trim(), false, limit.trim()),
            _ => return Err(error()),
        };
        let (test, figure) = match name.split_once('.') {
            None => (name, None),
            Some((test, figure)) => (test, Some(figure.to_owned())),
        };
        let span: Result<TimeSpan, _> = limit.parse();
        let number = limit.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite());
        let limit = number.or_else(|| Some(span.ok()?.0.as_secs_f64() * 1e6)).ok_or_else(error)?;
        if test.is_empty() || test.contains(char::is_whitespace) {
            return Err(error());
        }
        Ok(Self { test: test.to_owned(), figure, at_least, limit, within })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = self.figure.iter().map(|figure| format!(".{figure}")).collect::<String>();
        let sign = if self.at_least { ">=" } else { "<=" };
        let is_time = self.figure.as_deref().is_some_and(is_time);
        let limit = if is_time { time(self.limit) } else { self.limit.to_string() };
        let within =
            self.within.map_or_else(String::new, |(name, most)| format!(" at {name} <= {}", TimeSpan(most)));
        write!(f, "{}{figure} {sign} {limit}{within}", self.test)
    }
}

fn is_time(figure: &str) -> bool {
    figure == ALONE || figure.ends_with("_us")
}

/// A time in the notation of expectations.
fn time(us: f64) -> String {
    TimeSpan(Duration::from_nanos((us * 1e3).round() as u64)).to_string()
}

impl Expectation {
    /// Evaluates the expectation on a suite.
    pub fn evaluate(&self, suite: &SuiteResult) -> ExpectationResult {
        let measured = self.measured(suite);
        let met = measured.as_ref().is_ok_and(|(value, _)| match self.at_least {
            true => *value >= self.limit,
            false => *value <= self.limit,
        });
        let off_pct = |(value, _): &(f64, String)| 100.0 * (value / self.limit - 1.0).abs();
        let missed_pct = measured.as_ref().ok().filter(|_| !met).map(off_pct).filter(|pct| pct.is_finite());
        ExpectationResult {
            expected: self.to_string(),
            measured: measured.map(|(_, words)| words),
            met,
            missed_pct,
        }
    }

    /// The figure, and its words.
    fn measured(&self, suite: &SuiteResult) -> Result<(f64, String), String> {
        let test = suite.tests.iter().find(|test| test.page.id == self.test);
        let test = test.ok_or_else(|| format!("the suite has no test {}", self.test))?;
        if test.steps.is_empty() {
            let why = test.page.why_not.as_ref().or(test.page.failed.as_ref()).or(test.left_out.first());
            return Err(why.cloned().unwrap_or_else(|| "the test has no result".to_owned()));
        }
        // What a cache answered is no performance of the platform.
        if let Some(why) = &test.unfit {
            return Err(why.clone());
        }
        if self.figure.as_deref() == Some(ALONE) {
            let us = test.single_us.ok_or("no single session was measured")?;
            return Ok((us, time_us(us)));
        }
        let step = self.step(test)?;
        let sessions = crate::number::sessions(f64::from(step.sessions));
        let Some(name) = &self.figure else {
            let value = step.key.ok_or("the step does not report its key figure")?;
            let (shown, unit) = test.page.words(value);
            return Ok((value, format!("{shown} {unit} with {sessions}")));
        };
        let figure_value = step.figures.get(name).or_else(|| step.costs.get(name)).copied();
        let value = figure_value.ok_or_else(|| format!("the steps of {} do not report {name}", self.test))?;
        let shown = if is_time(name) { time_us(value) } else { figure(value) };
        Ok((value, format!("{shown} with {sessions}")))
    }

    /// The step that is evaluated: the best key figure among the steps that keep the latency limit.
    fn step<'t>(&self, test: &'t SuiteTestResult) -> Result<&'t SuiteTestStep, String> {
        let keeps = |step: &&SuiteTestStep| {
            self.within.is_none_or(|(name, most)| {
                let figure = WITHIN.iter().find(|(known, _)| *known == name).map(|(_, figure)| *figure);
                let us = figure.and_then(|figure| step.figures.get(figure));
                us.is_some_and(|us| *us <= most.as_secs_f64() * 1e6)
            })
        };
        let better = |a: &SuiteTestStep, b: &SuiteTestStep| (a.key > b.key) != test.page.less_is_better();
        let eligible = test.steps.iter().filter(|step| step.key.is_some()).filter(keeps);
        eligible.reduce(|best, step| if better(step, best) { step } else { best }).ok_or_else(|| {
            self.within.map_or_else(
                || "no step reports the key figure".to_owned(),
                |(name, most)| format!("no step keeps {name} <= {}", TimeSpan(most)),
            )
        })
    }
}

/// Expectations derived from a good suite: each test's highest value at its step, with an allowance
/// for the spread of repeats.
pub fn of_suite(suite: &SuiteResult, room_pct: f64) -> Vec<Expectation> {
    let expectation_for = |test: &SuiteTestResult| {
        let most = test.most.filter(|_| test.unfit.is_none())?;
        let step = test.steps.iter().find(|step| step.sessions == most.sessions)?;
        let p99 = step.figures.get("service_p99_us").copied()?;
        let at_least = !test.page.less_is_better();
        let room = room_pct / 100.0;
        let limit = most.value * if at_least { 1.0 - room } else { 1.0 + room };
        let within = Duration::from_micros((p99 * (1.0 + 2.0 * room)).ceil() as u64);
        Some(Expectation {
            test: test.page.id.clone(),
            figure: None,
            at_least,
            limit: rounded(limit),
            within: Some(("p99", within)),
        })
    };
    suite.tests.iter().filter_map(expectation_for).collect()
}

/// Rounds to three significant digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(value.abs().log10().floor() as i32 - 2);
    ((value / unit).round() * unit * 1e6).round() / 1e6
}

mod next;
pub use next::{CheckedSuite, next_steps};

#[cfg(test)]
mod tests;
