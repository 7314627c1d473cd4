//! The next step after a comparison of stored runs.

use dyno_plan::keys::{self, Fallback, PlanKey};
use dyno_record::{RecordKind, RunRecord, SweepKind};

use crate::compare::{ComparisonSide, RunComparison, common_points};
use crate::differences::{Area, ConfigDifference, has_effect};
use crate::next::{ComparisonEvidence, DifferingSetting, NextStep, PairsEvidence, after_comparison, quoted};

/// Options that a command repeats at most; longer ones are not to be copied.
const OPTIONS_MAX: usize = 12;

/// The steps after `comparison`, which compares `a` and `b`; none for the sides of an A/B test, whose own
/// conclusion has them.
pub fn next_steps(
    a: &ComparisonSide<'_>,
    b: &ComparisonSide<'_>,
    comparison: &RunComparison,
) -> Vec<NextStep> {
    let Some(leading) = comparison.overall.iter().find(|overall| overall.points > 0) else {
        return Vec::new();
    };
    let points = common_points(a, b);
    if is_ab(&points) {
        return Vec::new();
    }
    let mut records = points.iter().flat_map(|(a, b)| a.iter().chain(b));
    // What Dyno did not measure, it cannot repeat.
    let is_repeatable = records.all(|record| record.kind == RecordKind::Run);
    let runs =
        |side: fn(&(Vec<&RunRecord>, Vec<&RunRecord>)) -> usize| points.iter().map(side).min().unwrap_or(0);
    let runs = (runs(|point| point.0.len()), runs(|point| point.1.len()));
    let in_areas =
        |areas: &[Area]| comparison.differed.iter().filter(|of| areas.contains(&of.area)).collect::<Vec<_>>();
    let single = |areas: &[Area]| -> (Vec<DifferingSetting>, Vec<String>) {
        let (single, several): (Vec<&ConfigDifference>, Vec<_>) =
            in_areas(areas).into_iter().partition(|of| of.a.len() == 1 && of.b.len() == 1);
        let single = single.into_iter().map(|of| DifferingSetting {
            name: of.name.clone(),
            a: of.a[0].clone(),
            b: of.b[0].clone(),
        });
        (single.collect(), several.into_iter().map(|of| of.name.clone()).collect())
    };
    let (plan_keys, mut others) = single(&[Area::Plan]);
    let (settings, several) = single(&[Area::Setting]);
    others.extend(several);
    let rest = [
        Area::Database,
        Area::Data,
        Area::Kernel,
        Area::Mount,
        Area::Hardware,
        Area::KernelSetting,
        Area::DefaultSetting,
        Area::Source,
    ];
    others.extend(in_areas(&rest).into_iter().map(|of| of.name.clone()));
    let first = points.first().and_then(|(a, _)| a.first());
    after_comparison(&ComparisonEvidence {
        pairs: PairsEvidence::of(comparison, leading, runs),
        points: points.len(),
        is_apart: leading.difference_pct.is_some_and(|pct| pct.abs() > comparison.margin_pct),
        options: first.filter(|_| is_repeatable).and_then(|record| options(record, &plan_keys)),
        plan_keys,
        settings,
        others,
    })
}

/// Whether all runs belong to one A/B test.
fn is_ab(points: &[(Vec<&RunRecord>, Vec<&RunRecord>)]) -> bool {
    let mut parts = points.iter().flat_map(|(a, b)| a.iter().chain(b)).map(|record| record.part_of.as_ref());
    let Some(Some(first)) = parts.next() else { return false };
    first.kind == SweepKind::Ab && parts.all(|part| part.is_some_and(|part| part.id == first.id))
}

/// The options that repeat the target and the plan of `record`, without the keys that differ. Absent
/// if they are many, or if a value cannot be given as an option.
fn options(record: &RunRecord, differing: &[DifferingSetting]) -> Option<String> {
    let plan = &record.plan;
    let urls =
        if plan.target.urls.is_empty() { vec![plan.target.url.clone()] } else { plan.target.urls.clone() };
    let targets = urls.iter().map(|url| format!(" --target {}", quoted(&url.to_string())));
    let is_set = |key: &&PlanKey| {
        matches!(key.section(), "data" | "workload" | "run" | "observe")
            && has_effect(key.path)
            && differing.iter().all(|of| of.name != key.path)
    };
    let sets = keys::all().filter(is_set).filter_map(|key| {
        let value = key.get(plan)?;
        let is_default = matches!(key.default, Fallback::Value(default) if default == value);
        (!is_default).then(|| format!(" --set {}", quoted(&format!("{}={value}", key.path))))
    });
    let options: Vec<String> = targets.chain(sets).collect();
    (options.len() <= OPTIONS_MAX).then(|| options.concat())
}
