//! From the page of a test to the plan of its runs.

use dyno_analyze::conclusion::suite::Page;
use dyno_analyze::{Limit, points};
use dyno_plan::{Engines, Plan, Span, TargetUrl, keys, sweep, usual};
use dyno_workload::own::suite::{Cache, Load, Test};

use super::choice::Depth;
use super::units;
use crate::error::Error;

/// The key figure of a measured load.
pub(super) const LOADED: &str = "load_rows_per_s";

/// On how many of several targets each test is run: 1, 2, 4 … and on all; nothing where there is one target only.
pub(super) fn nodes(targets: usize) -> Vec<Option<u32>> {
    let all = u32::try_from(targets).unwrap_or(u32::MAX);
    if all < 2 {
        return vec![None];
    }
    let doubled = std::iter::successors(Some(1u32), |nodes| nodes.checked_mul(2));
    doubled.take_while(|nodes| *nodes < all).chain([all]).map(Some).collect()
}

/// The test as it is run on so many targets: of a name of its own.
pub(super) fn on(mut test: Test, nodes: Option<u32>) -> Test {
    if let Some(nodes) = nodes {
        test.id = format!("{}@{nodes}", test.id);
    }
    test
}

/// A test as reports show it, on the first `nodes` of `targets`.
pub(super) fn page(
    test: &Test,
    targets: &[TargetUrl],
    nodes: Option<u32>,
    depth: Depth,
    engines: Engines,
) -> Page {
    let nodes_count = nodes.unwrap_or(1) as usize;
    let lacks = |url: &TargetUrl| test.without.get(engines.of(url)?.name).cloned();
    let lacks_any = targets.iter().take(nodes_count).find_map(lacks);
    let is_divided_load = nodes_count > 1 && test.metric.as_deref() == Some(LOADED);
    Page {
        nodes,
        id: test.id.clone(),
        group: test.group.clone(),
        title: test.title.clone(),
        stresses: test.stresses.clone(),
        unit: test.unit.clone(),
        units: units::units(test, depth.scale(test)),
        metric: test.metric.clone(),
        limit: test.limit.clone(),
        cache: test.cache.map(|cache| cache.name().to_owned()),
        raw: test.raw,
        threads: test.threads,
        least: units::least(test, depth),
        why_not: lacks_any.or_else(|| is_divided_load.then(|| "a measured load has one target".to_owned())),
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

/// The plan of a test with one session, or with one on each of `nodes` targets.
pub(super) fn planned(
    base: &Plan,
    test: &Test,
    nodes: Option<u32>,
    depth: Depth,
    engines: Engines,
) -> Result<Plan, Error> {
    let usual = usual(base.target.clone(), engines);
    let mut plan = base.clone();
    if nodes.is_some() {
        plan.target.count = nodes;
    }
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
    let sessions = (sweep::SESSIONS.to_owned(), (first * nodes.unwrap_or(1)).to_string());
    if depth.scale(test) > 1 {
        plan.workload.scale = Some(depth.scale(test));
    }
    if let Some(cache) = test.cache {
        for url in std::iter::once(&mut plan.target.url).chain(&mut plan.target.urls) {
            let Some(spec) = engines.of(url) else { continue };
            let params = if cache == Cache::In { spec.cached } else { spec.uncached };
            *url = std::mem::take(url).with(params);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_doubled_up_to_all_of_them() {
        assert_eq!(nodes(1), [None]);
        assert_eq!(nodes(2), [1, 2].map(Some));
        assert_eq!(nodes(6), [1, 2, 4, 6].map(Some));
        assert_eq!(nodes(8), [1, 2, 4, 8].map(Some));
    }
}
