//! From the page of a test to the plan of its runs.

use dyno_analyze::conclusion::suite::Page;
use dyno_analyze::{Limit, points};
use dyno_plan::{Engines, Plan, Span, keys, sweep, usual};
use dyno_workload::own::suite::{Cache, Load, Test};

use super::choice::Depth;
use crate::error::Error;

/// A test as reports show it, for the engine of this name.
pub(super) fn page(test: &Test, engine: &str, depth: Depth) -> Page {
    Page {
        id: test.id.clone(),
        group: test.group.clone(),
        title: test.title.clone(),
        stresses: test.stresses.clone(),
        unit: test.unit.clone(),
        units: test.units * u64::from(depth.scale(test)),
        metric: test.metric.clone(),
        limit: test.limit.clone(),
        cache: test.cache.map(|cache| cache.name().to_owned()),
        raw: test.raw,
        threads: test.threads,
        why_not: test.without.get(engine).cloned(),
        failed: None,
    }
}

fn refused(test: &Test, problem: &str, hint: impl Into<String>) -> Error {
    Error::usage(format!("{}: test.{}: {problem}", test.place, test.id), hint)
}

/// What a page says that only the analysis can read.
pub(super) fn check(test: &Test) -> Result<(), Error> {
    let limit: Result<Limit, _> = test.limit.parse();
    if limit.map_err(|error| refused(test, &error.to_string(), ""))?.measure().is_none() {
        return Err(refused(test, "the limit is of one class", "write one of all: p95 <= 10ms"));
    }
    match &test.metric {
        Some(metric) if points::Measure::find(metric).is_none() => {
            let known = points::MEASURES.iter().map(|measure| measure.name);
            let near = dyno_plan::similar::closest(metric, known);
            let hint = near.map_or_else(String::new, |near| format!("did you mean {near}?"));
            Err(refused(test, &format!("there is no measure {metric}"), hint))
        }
        _ => Ok(()),
    }
}

/// The plan of a test with one session.
pub(super) fn planned(base: &Plan, test: &Test, depth: Depth, engines: Engines) -> Result<Plan, Error> {
    let usual = usual(base.target.clone(), engines);
    let mut plan = base.clone();
    let (warmup, time) = depth.times();
    let span = |ms| Span(std::time::Duration::from_millis(ms));
    if plan.run.warmup == usual.run.warmup {
        plan.run.warmup = span(warmup);
    }
    if plan.run.time == usual.run.time && plan.run.ops_per_session.is_none() {
        plan.run.time = Some(span(time * u64::from(test.stretch)));
    }
    let first = match &test.load {
        Load::Ramp(_) => 1,
        Load::Fixed(sessions) => sessions[0],
    };
    let sessions = (sweep::SESSIONS.to_owned(), first.to_string());
    if depth.scale(test) > 1 {
        plan.workload.scale = Some(depth.scale(test));
    }
    if let (Some(cache), Some(spec)) = (test.cache, engines.of(&plan.target.url)) {
        let params = if cache == Cache::In { spec.cached } else { spec.uncached };
        plan.target.url = std::mem::take(&mut plan.target.url).with(params);
    }
    // What is to be read from a cache is not to be thrown out of one.
    plan.run.drop_page_cache &= test.cache == Some(Cache::Out);
    for (key, value) in test.plan.iter().chain([&sessions]) {
        // What the user says of data goes before: nobody else knows how much is more than a cache holds.
        let of = |plan: &Plan| keys::find(key).and_then(|known| known.get(plan));
        if key.starts_with("data.") && of(base) != of(&usual) {
            continue;
        }
        let set = sweep::set(&mut plan, key, value, engines);
        set.map_err(|error| refused(test, &error.problem, error.hint))?;
    }
    Ok(plan)
}
