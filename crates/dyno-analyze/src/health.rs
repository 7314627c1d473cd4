//! Whether a platform delivers what was expected of it: limits on figures of a suite's tests.
//!
//! `storage-random-read >= 100000 at p99 <= 1ms`: the most of the test's key figure over the steps whose latency keeps the
//! limit. `storage-random-read.redo_mb_per_s >= 40`: another figure of its steps, at the step with the most of the key figure.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use dyno_plan::Span;
use serde::Serialize;

use crate::conclusion::suite::{Step, Suite, Tested};
use crate::number::{figure, time_us};

/// What is expected of one figure of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The test.
    pub test: String,
    /// A figure of its steps (`redo_mb_per_s`), or `alone`, the mean service time of a single session in µs; absent for its key
    /// figure.
    pub figure: Option<String>,
    /// Whether it has to be at least `limit`, and not at most.
    pub at_least: bool,
    /// The limit, in the figure's unit; of times in µs.
    pub limit: f64,
    /// The latency that a step has to keep to count: mean, p95 or p99 of service time.
    pub within: Option<(&'static str, Duration)>,
}

/// What became of an expectation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was expected, as it was written.
    pub expected: String,
    /// What was measured, with its unit; or why nothing is known.
    pub measured: Result<String, String>,
    /// Whether it is met; what nobody knows is not.
    pub met: bool,
}

/// A text that is no expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no expectation: write TEST, or TEST.FIGURE, `>=` or `<=`, a number or a time, and `at p99 <= 1ms` where a \
     latency has to be kept, as in `storage-random-read >= 100000 at p99 <= 1ms` or `server-lookup.alone <= 200us`"
)]
pub struct ExpectationError {
    text: String,
}

/// Latencies that a step can be asked to keep, with the figures of steps.
const WITHIN: [(&str, &str); 3] =
    [("mean", "service_mean_us"), ("p95", "service_p95_us"), ("p99", "service_p99_us")];

/// The figure of a single session.
const ALONE: &str = "alone";

impl FromStr for Expectation {
    type Err = ExpectationError;

    fn from_str(text: &str) -> Result<Self, ExpectationError> {
        let error = || ExpectationError { text: text.to_owned() };
        let (what, within) = match text.split_once(" at ") {
            None => (text, None),
            Some((what, limit)) => {
                let (name, most) = limit.split_once("<=").ok_or_else(error)?;
                let known = WITHIN.iter().find(|(known, _)| *known == name.trim()).ok_or_else(error)?;
                let most: Span = most.trim().parse().map_err(|_| error())?;
                (what, Some((known.0, most.0)))
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
        let span: Result<Span, _> = limit.parse();
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
            self.within.map_or_else(String::new, |(name, most)| format!(" at {name} <= {}", Span(most)));
        write!(f, "{}{figure} {sign} {limit}{within}", self.test)
    }
}

fn is_time(figure: &str) -> bool {
    figure == ALONE || figure.ends_with("_us")
}

/// A time as it is written.
fn time(us: f64) -> String {
    Span(Duration::from_nanos((us * 1e3).round() as u64)).to_string()
}

impl Expectation {
    /// What became of it in a suite.
    pub fn held(&self, suite: &Suite) -> Answer {
        let measured = self.measured(suite);
        let met = measured.as_ref().is_ok_and(|(value, _)| match self.at_least {
            true => *value >= self.limit,
            false => *value <= self.limit,
        });
        Answer { expected: self.to_string(), measured: measured.map(|(_, words)| words), met }
    }

    /// The figure, and its words.
    fn measured(&self, suite: &Suite) -> Result<(f64, String), String> {
        let test = suite.tests.iter().find(|test| test.page.id == self.test);
        let test = test.ok_or_else(|| format!("the suite has no test {}", self.test))?;
        if test.steps.is_empty() {
            let why = test.page.why_not.as_ref().or(test.page.failed.as_ref()).or(test.left_out.first());
            return Err(why.cloned().unwrap_or_else(|| "the test has no result".to_owned()));
        }
        // A platform delivers nothing by what its cache has answered.
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
            let value = step.key.ok_or("the step does not tell its key figure")?;
            let (shown, unit) = test.page.words(value);
            return Ok((value, format!("{shown} {unit} with {sessions}")));
        };
        let known = step.figures.get(name).or_else(|| step.costs.get(name)).copied();
        let value = known.ok_or_else(|| format!("the steps of {} do not tell {name}", self.test))?;
        let shown = if is_time(name) { time_us(value) } else { figure(value) };
        Ok((value, format!("{shown} with {sessions}")))
    }

    /// The step that counts: that with the best key figure of those that keep the latency.
    fn step<'t>(&self, test: &'t Tested) -> Result<&'t Step, String> {
        let keeps = |step: &&Step| {
            self.within.is_none_or(|(name, most)| {
                let figure = WITHIN.iter().find(|(known, _)| *known == name).map(|(_, figure)| *figure);
                let us = figure.and_then(|figure| step.figures.get(figure));
                us.is_some_and(|us| *us <= most.as_secs_f64() * 1e6)
            })
        };
        let better = |a: &Step, b: &Step| (a.key > b.key) != test.page.less_is_better();
        let kept = test.steps.iter().filter(|step| step.key.is_some()).filter(keeps);
        kept.reduce(|best, step| if better(step, best) { step } else { best }).ok_or_else(|| {
            self.within.map_or_else(
                || "no step tells the key figure".to_owned(),
                |(name, most)| format!("no step keeps {name} <= {}", Span(most)),
            )
        })
    }
}

/// Expectations that a good suite gives: each test's most at its step, with some room for what repeats differ by.
pub fn of_suite(suite: &Suite, room_pct: f64) -> Vec<Expectation> {
    let of = |test: &Tested| {
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
    suite.tests.iter().filter_map(of).collect()
}

/// With three digits that count.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(value.abs().log10().floor() as i32 - 2);
    ((value / unit).round() * unit * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests;
