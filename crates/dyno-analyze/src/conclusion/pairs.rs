//! The next step after an A/B test, from its figures.

use super::AbResult;
use crate::next::{NextStep, PairsEvidence, after_pairs};

/// What the name of a server setting begins with among the settings of a side.
pub const SERVER_PREFIX: &str = "server.";

/// The steps after the test of this name.
pub(super) fn next(campaign_id: &str, test: &AbResult) -> Vec<NextStep> {
    let Some(comparison) = &test.comparison else { return Vec::new() };
    let Some(leading) = test.leading() else { return Vec::new() };
    after_pairs(&PairsEvidence {
        sides: settings(&test.a.name).zip(settings(&test.b.name)),
        server_settings: test.server_settings.clone(),
        campaign: Some(campaign_id.to_owned()),
        ..PairsEvidence::of(comparison, leading, comparison.runs)
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
