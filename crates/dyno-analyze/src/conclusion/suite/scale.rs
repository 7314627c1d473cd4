//! What several targets do beside one: scale-out.

use super::{Suite, Tested};
use crate::number::{fixed, percent};

/// A test on one target and on more.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// The test, without the number of targets: `server-lookup`.
    pub test: String,
    /// The unit of its key figure.
    pub unit: String,
    /// What was reached on so many targets, one first.
    pub on: Vec<OnNodes>,
}

/// The most of a test's key figure on so many targets.
#[derive(Debug, Clone, PartialEq)]
pub struct OnNodes {
    /// Targets.
    pub nodes: u32,
    /// The most, as it is shown.
    pub shown: String,
    /// How many times what one target does.
    pub times: f64,
    /// How many times at least and at most, by all runs of both; absent where either has a single run.
    pub range: Option<(f64, f64)>,
}

impl OnNodes {
    /// What share of so many times one target it is, %.
    pub fn of_linear_pct(&self) -> f64 {
        self.times / f64::from(self.nodes) * 100.0
    }
}

impl Scaled {
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

/// Tests that were run on one target and on more, where both have a result; none of those whose figure is better where it is less.
pub(super) fn scaled(tests: &[Tested]) -> Vec<Scaled> {
    let most = |test: &Tested| test.most.filter(|at| test.unfit.is_none() && at.value > 0.0);
    let alone = tests.iter().filter(|test| test.page.nodes == Some(1) && !test.page.less_is_better());
    let of = |one: &Tested| {
        let name = one.page.id.strip_suffix("@1")?;
        let base = most(one)?;
        let on = |test: &Tested| {
            let (nodes, at) = (test.page.nodes?, most(test)?);
            let range = base.range.zip(at.range).map(|(one, own)| (own.0 / one.1, own.1 / one.0));
            let is_same = test.page.id == format!("{name}@{nodes}");
            let shown = at.words(&test.page).0;
            is_same.then(|| OnNodes { nodes, shown, times: at.value / base.value, range })
        };
        let on: Vec<OnNodes> = tests.iter().filter_map(on).collect();
        (on.len() > 1).then(|| Scaled { test: name.to_owned(), unit: one.page.words(base.value).1, on })
    };
    alone.filter_map(of).collect()
}

impl Suite {
    /// What several targets do beside one, of each test that says so.
    pub fn scaled(&self) -> Vec<Scaled> {
        scaled(&self.tests)
    }
}
