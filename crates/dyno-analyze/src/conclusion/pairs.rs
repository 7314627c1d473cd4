//! The next step after an A/B test, from its figures.

use super::AbResult;
use super::ab::SERVER_PREFIX;
use crate::compare::rank::{fewest_pairs, least_p};
use crate::compare::{ComparisonVerdict, MARGIN_PCT, SIGNIFICANCE};
use crate::next::{NextStep, PairsEvidence, after_pairs};

/// The steps after the test.
pub(super) fn next(test: &AbResult) -> Vec<NextStep> {
    let Some(comparison) = &test.comparison else { return Vec::new() };
    let Some(leading) = comparison.overall.iter().find(|overall| overall.points > 0) else {
        return Vec::new();
    };
    after_pairs(&PairsEvidence {
        sides: settings(&test.a.name).zip(settings(&test.b.name)),
        server_settings: test.server_settings.clone(),
        runs: comparison.runs,
        least_p: least_p(comparison.runs.0, comparison.runs.1),
        fewest_pairs: fewest_pairs(SIGNIFICANCE),
        margin_pct: comparison.margin_pct,
        is_usual_margin: (comparison.margin_pct - MARGIN_PCT).abs() < f64::EPSILON,
        difference_pct: leading.difference_pct,
        interval_pct: leading.interval_pct,
        is_open: matches!(leading.verdict, ComparisonVerdict::Unsure | ComparisonVerdict::OneRunEach),
        is_confounded: matches!(
            leading.verdict,
            ComparisonVerdict::Confounded | ComparisonVerdict::OthersHadPart
        ),
    })
}

/// The settings of a side, as an option takes them: `work_unit=64` of `a (work_unit = 64)`, and
/// nothing of `a (the plan unchanged)`.
fn settings(name: &str) -> Option<String> {
    let inside = name.split_once(" (")?.1.strip_suffix(')')?;
    let pairs = inside.split(", ").filter_map(|pair| pair.split_once(" = "));
    let pairs = pairs.filter(|(key, _)| !key.starts_with(SERVER_PREFIX));
    let words = pairs.map(|(key, value)| match key {
        "plan" => value.to_owned(),
        _ => format!("{key}={value}"),
    });
    Some(words.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_names_become_options() {
        let options = |name| settings(name).unwrap();
        assert_eq!(
            options("a (workload.work_unit = 64, data.seed = 1)"),
            "workload.work_unit=64,data.seed=1"
        );
        assert_eq!(
            (options("a (the plan unchanged)"), options("b (plan = b.toml)")),
            (String::new(), "b.toml".into())
        );
        assert_eq!(options("a (data.seed = 1, server.work_mem = 4MB)"), "data.seed=1");
        assert_eq!(settings("ext4"), None);
    }
}
