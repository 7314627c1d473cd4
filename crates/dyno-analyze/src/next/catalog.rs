//! The list of all rules, for the reference.

use super::{
    NextRule, campaign, capacity, comparison, curve, facts, health, limits, pairs, platforms, quality, study,
    suite, watch,
};

/// A rule as the reference lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleDescription {
    /// The name that a step carries.
    pub name: &'static str,
    /// The evidence that the rule needs.
    pub evidence: &'static str,
    /// The page of the documentation, or the manual and its section.
    pub source: &'static str,
}

fn described<F>(rules: &'static [NextRule<F>]) -> Vec<RuleDescription> {
    let describe = |rule: &'static NextRule<F>| {
        let NextRule { name, evidence, source, .. } = rule;
        RuleDescription { name, evidence, source }
    };
    rules.iter().map(describe).collect()
}

/// All rules by family, in the order in which they apply.
pub fn rules() -> [(&'static str, Vec<RuleDescription>); 15] {
    [
        ("The figures of a run", described(quality::RULES)),
        ("Counters and settings of the server", described(facts::RULES)),
        ("What limits", described(limits::RULES)),
        ("Curves of sessions", described(curve::RULES)),
        ("A/B tests", described(pairs::RULES)),
        ("Comparisons", described(comparison::RULES)),
        ("Searches", described(campaign::SEARCH_RULES)),
        ("Soaks", described(campaign::SOAK_RULES)),
        ("Suites", described(suite::RULES)),
        ("Health", described(health::RULES)),
        ("Scorecards", described(platforms::SCORECARD_RULES)),
        ("Prices", described(platforms::PRICE_RULES)),
        ("Studies", described(study::RULES)),
        ("Watches", described(watch::RULES)),
        ("Capacity", described(capacity::RULES)),
    ]
}
