//! Every combination of the axes' values, each with the plan of its run.

use std::collections::BTreeMap;

use super::axis::{SESSIONS, is_sessions};
use crate::engine::Engines;
use crate::keys::{self, EITHERS, Raw};
use crate::phases;
use crate::plan::{Axis, Plan, Sweep};
use crate::read::rules;

/// The most runs of a sweep.
pub const RUNS_MAX: u64 = 10_000;

/// One combination of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Its number, from 1: axes of data first, then as written, sessions last and rising.
    pub number: u32,
    /// Keys and values that make it, slowest first.
    pub settings: Vec<(String, String)>,
    /// The plan of its runs, without `[sweep]`.
    pub plan: Plan,
    /// Points of the same layout run on the same data of the same target.
    pub layout: u32,
    /// Points of the same ramp differ in sessions only.
    pub ramp: u32,
    /// Place in its ramp, from 0.
    pub rank: u32,
}

/// Why a combination of settings is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct PointError {
    /// The keys it is about.
    pub keys: Vec<String>,
    /// What is wrong, and at which point.
    pub problem: String,
    /// The way out.
    pub hint: String,
}

/// All points of `plan`'s sweep in order of number.
///
/// # Errors
/// A combination breaks a rule of plans, or there are more than [`RUNS_MAX`] runs.
pub fn points(plan: &Plan, engines: Engines) -> Result<Vec<Point>, PointError> {
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
            hint: "fewer values or repeats".into(),
        });
    }
    let mut base = plan.clone();
    base.sweep = Sweep::default();
    let (mut layouts, mut ramps) = (Numbers::default(), Numbers::default());
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
        points.push(Point {
            number: index as u32 + 1,
            plan: overlay(&base, &settings, engines)?,
            layout: layouts.of(at(is_layout)),
            ramp: ramps.of(at(|key| !is_sessions(key))),
            rank: rank as u32,
            settings,
        });
    }
    Ok(points)
}

/// Puts one value into a plan as `--set` would, and takes out what excludes it. `sessions` is over all schemas.
///
/// # Errors
/// There is no such key, the value is not allowed, or the sessions cannot be shared out evenly among the schemas.
pub fn set(plan: &mut Plan, path: &str, value: &str, engines: Engines) -> Result<(), PointError> {
    let error = |problem: String, hint: String| PointError { keys: vec![path.to_owned()], problem, hint };
    if path == SESSIONS {
        return set_sessions(plan, value);
    }
    let key = keys::find(path).ok_or_else(|| error(format!("there is no key {path}"), String::new()))?;
    key.kind.put(plan, Raw::Text(value), engines).map_err(|refused| {
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
        let problem = "the phases say which rate holds when, so there is no one rate to set";
        return Err(error(problem.into(), "take out workload.phases".into()));
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
            format!("{sessions} sessions cannot be shared out evenly among {schemas} schemas"),
            "write multiples of data.schemas, or an axis run.sessions_per_schema",
        ));
    }
    plan.run.sessions_per_schema = sessions / schemas;
    Ok(())
}

/// The axes, those that cost most to change first: data, then as written, then sessions with rising values.
fn in_order(sweep: &Sweep) -> Vec<Axis> {
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

/// Whether another value of the key is other data, or another place of it.
fn is_layout(key: &str) -> bool {
    (key.starts_with("data.") && key != "data.load_parallel")
        || matches!(
            key,
            "target.url" | "target.urls" | "workload.folder" | "workload.beside" | "workload.scale"
        )
}

/// The values at `index`, the last axis fastest.
fn combination(axes: &[Axis], index: u64) -> Vec<(String, String)> {
    let mut rest = index;
    let mut settings: Vec<_> = axes
        .iter()
        .rev()
        .map(|axis| {
            let of = axis.values.len() as u64;
            let value = axis.values[(rest % of) as usize].clone();
            rest /= of;
            (axis.key.clone(), value)
        })
        .collect();
    settings.reverse();
    settings
}

/// `base` with `settings`, checked as any plan is.
fn overlay(base: &Plan, settings: &[(String, String)], engines: Engines) -> Result<Plan, PointError> {
    let mut plan = base.clone();
    // In this order: sessions are shared out among the schemas that the point has.
    for (path, value) in settings {
        set(&mut plan, path, value, engines)?;
    }
    match rules::broken(&plan, engines) {
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

/// Numbers for texts, from 0 in order of appearance.
#[derive(Default)]
struct Numbers(BTreeMap<String, u32>);

impl Numbers {
    fn of(&mut self, text: String) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(text).or_insert(next)
    }
}
