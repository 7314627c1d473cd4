//! Pairs the runs of two sides: those at the same point belong together.
//!
//! The axes are the settings in which runs of *one* side differ. Settings that differ between the
//! sides only are what is compared; they are listed under "what else differed".

use dyno_record::RunRecord;

use crate::points::axis::{AxisValue, SCHEMAS, SettingAxis, VaryingSettings};

/// Facts of the platform: they distinguish sides, not points.
const FACTS: [&str; 4] = ["source", "target.version", "host.name", "host.kernel"];

/// Runs of both sides at one point.
pub(super) struct Pair<'r> {
    pub(super) at: Vec<AxisValue>,
    pub(super) a: Vec<&'r RunRecord>,
    pub(super) b: Vec<&'r RunRecord>,
}

/// The names of the axes, and the points in their order.
pub(super) fn align<'r>(a: &[&'r RunRecord], b: &[&'r RunRecord]) -> (Vec<String>, Vec<Pair<'r>>) {
    let axes = axes(a, b);
    let place = |record: &RunRecord| -> Vec<AxisValue> { axes.iter().map(|axis| axis.of(record)).collect() };
    let mut pairs: Vec<Pair<'r>> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for (records, first) in [(a, true), (b, false)] {
        for &record in records {
            let at = place(record);
            let key: Vec<String> = at.iter().map(|value| value.text.clone()).collect();
            let i = *index.entry(key).or_insert_with(|| {
                pairs.push(Pair { at, a: Vec::new(), b: Vec::new() });
                pairs.len() - 1
            });
            if first { pairs[i].a.push(record) } else { pairs[i].b.push(record) }
        }
    }
    pairs.sort_by(|x, y| {
        let orders = x.at.iter().zip(&y.at).map(|(x, y)| x.order(y));
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    (axes.into_iter().map(|axis| axis.path).collect(), pairs)
}

/// The settings in which runs of one side differ.
fn axes(a: &[&RunRecord], b: &[&RunRecord]) -> Vec<SettingAxis> {
    let sides = [a, b].map(|side| VaryingSettings::of(side.iter().copied()));
    let follow = sides.iter().all(VaryingSettings::schemas_follow);
    let mut axes = VaryingSettings::of(a.iter().chain(b).copied()).candidates();
    axes.retain(|axis| !FACTS.contains(&axis.path.as_str()));
    axes.retain(|axis| !follow || axis.path != SCHEMAS);
    axes.retain(|axis| sides.iter().any(|side| side.differ_in(axis)));
    axes
}
