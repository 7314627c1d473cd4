//! Computes the scale-out: what several targets do compared with one.

use super::{SuiteResult, SuiteTestResult};
use crate::number::{fixed, percent};

/// A test on one target and on more.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingResult {
    /// The test, without the number of targets: `server-lookup`.
    pub test: String,
    /// The unit of its key figure.
    pub unit: String,
    /// The results by number of targets, one target first.
    pub on: Vec<NodeScaling>,
}

/// The highest key figure of a test on a number of targets.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeScaling {
    pub nodes: u32,
    /// The value, in the unit of the key figure.
    pub value: f64,
    /// The value as it is shown.
    pub shown: String,
    /// The value divided by that of one target.
    pub times: f64,
    /// The lowest and highest factor over all runs of both; absent where either has a single run.
    pub range: Option<(f64, f64)>,
}

impl NodeScaling {
    /// Share of linear scaling that was reached, %.
    pub fn of_linear_pct(&self) -> f64 {
        self.times / f64::from(self.nodes) * 100.0
    }
}

impl ScalingResult {
    pub(super) fn words(&self) -> String {
        let on: Vec<String> = self
            .on
            .iter()
            .skip(1)
            .map(|on| {
                let range = on.range.map_or_else(String::new, |(least, most)| {
                    format!(" ({} to {})", fixed(least, 2), fixed(most, 2))
                });
                let share = percent(on.of_linear_pct());
                format!("{} ×{range} on {}, {share} % of linear", fixed(on.times, 2), on.nodes)
            })
            .collect();
        format!("{}: what one target does, {}", self.test, on.join("; "))
    }
}

/// Tests that were run on one target and on several, where both have a result. Tests whose key
/// figure is better when lower are left out.
pub(super) fn scaled(tests: &[SuiteTestResult]) -> Vec<ScalingResult> {
    let most = |test: &SuiteTestResult| test.most.filter(|at| test.unfit.is_none() && at.value > 0.0);
    let alone = tests.iter().filter(|test| test.page.nodes == Some(1) && !test.page.less_is_better());
    let scale_test = |one: &SuiteTestResult| {
        let name = one.page.id.strip_suffix("@1")?;
        let base = most(one)?;
        let on = |test: &SuiteTestResult| {
            let (nodes, at) = (test.page.nodes?, most(test)?);
            let range = base.range.zip(at.range).map(|(one, own)| (own.0 / one.1, own.1 / one.0));
            let is_same = test.page.id == format!("{name}@{nodes}");
            let shown = at.words(&test.page).0;
            is_same.then(|| NodeScaling {
                nodes,
                value: at.value,
                shown,
                times: at.value / base.value,
                range,
            })
        };
        let on: Vec<NodeScaling> = tests.iter().filter_map(on).collect();
        (on.len() > 1).then(|| ScalingResult {
            test: name.to_owned(),
            unit: one.page.words(base.value).1,
            on,
        })
    };
    alone.filter_map(scale_test).collect()
}

impl SuiteResult {
    /// The scale-out of each test that has one.
    pub fn scaled(&self) -> Vec<ScalingResult> {
        scaled(&self.tests)
    }
}
