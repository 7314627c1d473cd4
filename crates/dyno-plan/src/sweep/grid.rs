//! Builds the grid of a sweep: every combination of its axes' values, each with the plan of its run.

use std::collections::BTreeMap;

use super::axis::{SESSIONS, is_sessions};
use crate::engine::Engines;
use crate::keys::{self, EITHERS, RawValue};
use crate::phases;
use crate::plan::{Plan, SweepGridAxis, SweepSettings};
use crate::read::rules;

/// The largest number of runs in a sweep.
pub const RUNS_MAX: u64 = 10_000;

/// One combination of settings in a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepGridPoint {
    /// Its number, from 1: axes of data vary slowest, then the others as written, then sessions, rising.
    pub number: u32,
    /// The keys and values of the point, slowest axis first.
    pub settings: Vec<(String, String)>,
    /// The plan of its runs, without `[sweep]`.
    pub plan: Plan,
    /// Number of its layout; points with the same layout share target and data.
    pub layout: u32,
    /// Number of its ramp; points of a ramp differ in sessions only.
    pub ramp: u32,
    /// Index in its ramp, from 0.
    pub rank: u32,
}

/// Why a combination of settings is not a valid plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct PointError {
    /// The keys involved in the problem.
    pub keys: Vec<String>,
    /// What is wrong, and at which point.
    pub problem: String,
    /// What to change in the plan.
    pub hint: String,
}

/// All points of `plan`'s sweep in the order of their numbers.
///
/// # Errors
/// A combination breaks a rule of plans, or there are more than [`RUNS_MAX`] runs.
pub fn points(plan: &Plan, engines: Engines) -> Result<Vec<SweepGridPoint>, PointError> {
    let axes = in_order(&plan.sweep);
    let count = axes.iter().fold(1u64, |count, axis| count.saturating_mul(axis.values.len() as u64));
    let runs = count.saturating_mul(plan.sweep.repeats.into());
    if runs > RUNS_MAX {
        return Err(PointError {
            keys: axes.iter().map(|axis| axis.key.clone()).collect(),
            problem: format!(
                "the sweep has {} runs, more than {}",
                keys::thousands(runs),
                keys::thousands(RUNS_MAX)
            ),
            hint: "use fewer values or repeats".into(),
        });
    }
    let mut base = plan.clone();
    base.sweep = SweepSettings::default();
    let (mut layouts, mut ramps) = (LayoutNumbers::default(), LayoutNumbers::default());
    let mut points = Vec::with_capacity(count as usize);
    for index in 0..count {
        let settings = combination(&axes, index);
        let at = |wanted: fn(&str) -> bool| {
            let chosen = settings.iter().filter(|(key, _)| wanted(key));
            chosen.map(|(key, value)| format!("{key}={value}\n")).collect::<String>()
        };
        let rank = axes
            .last()
            .filter(|axis| is_sessions(&axis.key))
            .map_or(0, |axis| index % axis.values.len() as u64);
        points.push(SweepGridPoint {
            number: index as u32 + 1,
            plan: overlay(&base, &settings, engines)?,
            layout: layouts.number_of(at(is_layout)),
            ramp: ramps.number_of(at(|key| !is_sessions(key))),
            rank: rank as u32,
            settings,
        });
    }
    Ok(points)
}

/// Sets one value in a plan as `--set` does and removes keys that exclude it. `sessions` is over all schemas.
///
/// # Errors
/// The key does not exist, the value is not allowed, or the sessions cannot be divided evenly among the schemas.
pub fn set(plan: &mut Plan, path: &str, value: &str, engines: Engines) -> Result<(), PointError> {
    let error = |problem: String, hint: String| PointError { keys: vec![path.to_owned()], problem, hint };
    if path == SESSIONS {
        return set_sessions(plan, value);
    }
    let key = keys::find(path).ok_or_else(|| error(format!("unknown key {path}"), String::new()))?;
    key.kind.put(plan, RawValue::Text(value), engines).map_err(|refused| {
        error(format!("{path} = {value}: {}", refused.problem), format!("allowed: {}", key.allowed()))
    })?;
    for either in &EITHERS {
        match either.paths.iter().position(|known| *known == path) {
            Some(0) => (either.clear[1])(plan),
            Some(_) => (either.clear[0])(plan),
            None => {}
        }
    }
    if path == "workload.rate" && plan.workload.rate.is_some() && !plan.workload.phases.is_empty() {
        let problem = "workload.phases sets the rate, so workload.rate cannot be set";
        return Err(error(problem.into(), "remove workload.phases".into()));
    }
    if path == "workload.phases" {
        (plan.workload.rate, plan.run.ops_per_session) = (None, None);
        plan.run.time = phases::total(&plan.workload.phases).or(plan.run.time);
    }
    Ok(())
}

fn set_sessions(plan: &mut Plan, value: &str) -> Result<(), PointError> {
    let error = |problem: String, hint: &str| PointError {
        keys: vec![SESSIONS.into(), "data.schemas".into()],
        problem,
        hint: hint.into(),
    };
    let sessions: u32 =
        value.parse().ok().filter(|sessions| (1..=100_000).contains(sessions)).ok_or_else(|| {
            error(format!("sessions = {value}: not a number of sessions"), "allowed: 1 to 100,000")
        })?;
    let schemas = plan.data.schemas;
    if !sessions.is_multiple_of(schemas) {
        return Err(error(
            format!("{sessions} sessions cannot be divided evenly among {schemas} schemas"),
            "write multiples of data.schemas, or an axis run.sessions_per_schema",
        ));
    }
    plan.run.sessions_per_schema = sessions / schemas;
    Ok(())
}

/// The axes by the cost of a change, most expensive first: data, others as written, sessions with rising values.
fn in_order(sweep: &SweepSettings) -> Vec<SweepGridAxis> {
    let mut axes = sweep.axes.clone();
    axes.sort_by_key(|axis| match &axis.key {
        key if is_layout(key) => 0,
        key if is_sessions(key) => 2,
        _ => 1,
    });
    for axis in axes.iter_mut().filter(|axis| is_sessions(&axis.key)) {
        axis.values.sort_by_key(|value| value.parse::<u64>().unwrap_or(u64::MAX));
    }
    axes
}

/// Whether another value of the key means other data or another place of the data.
fn is_layout(key: &str) -> bool {
    (key.starts_with("data.") && key != "data.load_parallel")
        || matches!(
            key,
            "target.url" | "target.urls" | "workload.folder" | "workload.beside" | "workload.scale"
        )
}

/// The combination number `index`; the last axis varies fastest.
fn combination(axes: &[SweepGridAxis], index: u64) -> Vec<(String, String)> {
    let mut rest = index;
    let mut settings: Vec<_> = axes
        .iter()
        .rev()
        .map(|axis| {
            let value_count = axis.values.len() as u64;
            let value = axis.values[(rest % value_count) as usize].clone();
            rest /= value_count;
            (axis.key.clone(), value)
        })
        .collect();
    settings.reverse();
    settings
}

/// Applies `settings` to `base` and checks the result like any plan.
fn overlay(base: &Plan, settings: &[(String, String)], engines: Engines) -> Result<Plan, PointError> {
    let mut plan = base.clone();
    // The order matters: sessions are divided among the schemas of the point.
    for (path, value) in settings {
        set(&mut plan, path, value, engines)?;
    }
    match rules::first_violation(&plan, engines) {
        None => Ok(plan),
        Some(broken) => {
            let at: Vec<_> = settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let mut keys: Vec<String> = broken.paths.iter().map(|&path| path.to_owned()).collect();
            keys.push(SESSIONS.into());
            let problem = format!("at {}: {}", at.join(", "), broken.problem);
            Err(PointError { keys, problem, hint: broken.hint.into() })
        }
    }
}

/// Assigns numbers to texts, from 0 in order of appearance.
#[derive(Default)]
struct LayoutNumbers(BTreeMap<String, u32>);

impl LayoutNumbers {
    fn number_of(&mut self, text: String) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(text).or_insert(next)
    }
}
