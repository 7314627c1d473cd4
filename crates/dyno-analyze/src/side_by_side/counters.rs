//! Counters of the database under their own names, per unit of work.

use std::collections::BTreeSet;

use dyno_record::{AttributionScope, RunRecord, Unit};

use super::spec::{ComparedSides, RowSpec};
use crate::timed_events::event_prefix;

/// Longest name of a counter, in characters.
const NAME_MAX: usize = 120;

pub(super) fn specs(sides: &ComparedSides<'_>) -> Vec<RowSpec<'static>> {
    let is_event =
        |record: &RunRecord, name: &str| event_prefix(record).is_some_and(|prefix| name.starts_with(prefix));
    let names: BTreeSet<String> = sides
        .records()
        .flat_map(|record| record.counters.native.keys().filter(|name| !is_event(record, name)).cloned())
        .collect();
    let names = names.into_iter().filter(|name| name.chars().count() <= NAME_MAX);
    let row = |counter: String| RowSpec {
        is_per_work: sides.per.is_some(),
        metric: wide_metric(sides),
        ..RowSpec::new(&counter.clone(), Unit::PerSecond, move |record: &RunRecord| {
            let seconds = record.window.as_ref().map(|window| window.seconds).filter(|s| *s > 0.0)?;
            let counters = &record.counters.native;
            // A counter without a change is not stored.
            (!counters.is_empty()).then(|| counters.get(&counter).copied().unwrap_or(0.0) / seconds)
        })
    };
    names.map(row).collect()
}

/// A marked metric of the whole database or server, if there is one: these counters then include the
/// same background activity.
pub(super) fn wide_metric(sides: &ComparedSides<'_>) -> String {
    let is_wide = |scope| matches!(scope, AttributionScope::Database | AttributionScope::Server);
    let mut marked = sides.records().flat_map(|record| &record.whose);
    let marked = marked.find(|(_, whose)| whose.marked && is_wide(whose.scope));
    marked.map_or_else(String::new, |(name, _)| name.clone())
}
