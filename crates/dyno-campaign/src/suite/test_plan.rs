//! Creates the plan of a test's runs from its description.

use dyno_analyze::conclusion::suite::SuiteTestInfo;
use dyno_analyze::{Limit, points};
use dyno_plan::{Engines, Plan, TargetUrl, TimeSpan, keys, sweep, usual};
use dyno_workload::custom::suite::{Cache, SuiteTestSessions, Test};

use super::choice::Depth;
use super::units;
use crate::error::Error;

/// The key figure of a measured load.
pub(super) const LOADED: &str = "load_rows_per_s";

/// The numbers of targets on which each test runs: 1, 2, 4 … and all. `None` with a single target.
pub(super) fn node_counts(targets: usize) -> Vec<Option<u32>> {
    let all = u32::try_from(targets).unwrap_or(u32::MAX);
    if all < 2 {
        return vec![None];
    }
    let doubled = std::iter::successors(Some(1u32), |nodes| nodes.checked_mul(2));
    doubled.take_while(|nodes| *nodes < all).chain([all]).map(Some).collect()
}

/// The test on this many targets; the number becomes part of its name.
pub(super) fn test_for_nodes(mut test: Test, nodes: Option<u32>) -> Test {
    if let Some(nodes) = nodes {
        test.id = format!("{}@{nodes}", test.id);
    }
    test
}

/// The test as reports show it, on the first `nodes` of `targets`.
pub(super) fn test_page(
    test: &Test,
    targets: &[TargetUrl],
    nodes: Option<u32>,
    depth: Depth,
    engines: Engines,
) -> SuiteTestInfo {
    let nodes_count = nodes.unwrap_or(1) as usize;
    let lacks = |url: &TargetUrl| test.without.get(engines.spec_of(url)?.name).cloned();
    let lacks_any = targets.iter().take(nodes_count).find_map(lacks);
    let is_divided_load = nodes_count > 1 && test.metric.as_deref() == Some(LOADED);
    SuiteTestInfo {
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
        why_not: lacks_any
            .or_else(|| is_divided_load.then(|| "a measured load supports only one target".to_owned())),
        failed: None,
    }
}

fn page_error(test: &Test, problem: &str, hint: impl Into<String>) -> Error {
    Error::usage(format!("{}: test.{}: {problem}", test.place, test.id), hint)
}

/// Checks the parts of a test description that need the analysis code.
pub(super) fn check_page(test: &Test) -> Result<(), Error> {
    let limit: Result<Limit, _> = test.limit.parse();
    if limit.map_err(|error| page_error(test, &error.to_string(), ""))?.measure().is_none() {
        return Err(page_error(
            test,
            "the limit applies to one class only",
            "write a limit for all classes: p95 <= 10ms",
        ));
    }
    match &test.metric {
        Some(metric) if points::Measure::find(metric).is_none() => {
            let measure_names = points::MEASURES.iter().map(|measure| measure.name);
            let near = dyno_plan::similar::closest(metric, measure_names);
            let hint = near.map_or_else(String::new, |near| format!("did you mean {near}?"));
            Err(page_error(test, &format!("unknown measure {metric}"), hint))
        }
        _ => Ok(()),
    }
}

/// Creates the plan of a test with one session, or one on each of `nodes` targets.
pub(super) fn test_plan(
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
    let span = |ms| TimeSpan(std::time::Duration::from_millis(ms));
    if plan.run.warmup == usual.run.warmup {
        plan.run.warmup = span(warmup);
    }
    if plan.run.time == usual.run.time && plan.run.ops_per_session.is_none() {
        plan.run.time = Some(span(time * u64::from(test.stretch)));
    }
    let first = match &test.load {
        SuiteTestSessions::Ramp(_) => 1,
        SuiteTestSessions::Fixed(sessions) => sessions[0],
    };
    let sessions = (sweep::SESSIONS.to_owned(), (first * nodes.unwrap_or(1)).to_string());
    if depth.scale(test) > 1 {
        plan.workload.scale = Some(depth.scale(test));
    }
    if let Some(cache) = test.cache {
        for url in std::iter::once(&mut plan.target.url).chain(&mut plan.target.urls) {
            let Some(spec) = engines.spec_of(url) else { continue };
            let params = if cache == Cache::In { spec.cached } else { spec.uncached };
            *url = std::mem::take(url).with(params);
        }
    }
    // The page cache is kept if the test reads from a cache.
    plan.run.drop_page_cache &= test.cache == Some(Cache::Out);
    for (key, value) in test.plan.iter().chain([&sessions]) {
        // Data sizes that the user sets have priority, because only the user knows how much exceeds a cache.
        let value_in = |plan: &Plan| keys::find(key).and_then(|known| known.get(plan));
        if key.starts_with("data.") && value_in(base) != value_in(&usual) {
            continue;
        }
        let set = sweep::set(&mut plan, key, value, engines);
        set.map_err(|error| page_error(test, &error.problem, error.hint))?;
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_counts_double_up_to_all_nodes() {
        assert_eq!(node_counts(1), [None]);
        assert_eq!(node_counts(2), [1, 2].map(Some));
        assert_eq!(node_counts(6), [1, 2, 4, 6].map(Some));
        assert_eq!(node_counts(8), [1, 2, 4, 8].map(Some));
    }
}
