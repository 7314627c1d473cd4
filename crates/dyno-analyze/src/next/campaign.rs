//! Steps after a search and after a soak.

use super::pairs::quoted;
use super::{FoundStep, NextRule, NextStep, chosen};
use crate::number::span_s;

const SWEEPS: &str = "docs/guides/sweeps.md";
const STEADY: &str = "docs/concepts/analysis.md#steady-state-drift-cliff";

#[derive(Debug, Clone)]
pub(crate) struct SearchEvidence {
    pub(crate) limits: Vec<String>,
    /// What was raised, as `--over` names it.
    pub(crate) over: String,
    /// Whether it found its bracket.
    pub(crate) found: bool,
    pub(crate) holds: Option<u64>,
    pub(crate) breaks: Option<u64>,
    /// Runs that kept the limits at the highest load that holds, and all runs there.
    pub(crate) kept: (u32, u32),
}

#[derive(Debug, Clone)]
pub(crate) struct SoakEvidence {
    pub(crate) seconds: f64,
    /// Whether it reached a steady state.
    pub(crate) is_steady: bool,
    /// Whether throughput changed over its whole length.
    pub(crate) drifts: bool,
}

type SearchRule = NextRule<fn(&SearchEvidence) -> Option<FoundStep>>;
type SoakRule = NextRule<fn(&SoakEvidence) -> Option<FoundStep>>;

pub(super) const SEARCH_RULES: &[SearchRule] = &[
    NextRule {
        name: "search_higher",
        evidence: "a search kept its limits up to the highest load that it may try",
        source: SWEEPS,
        find: search_higher,
    },
    NextRule {
        name: "search_lower",
        evidence: "a search broke its limits at the lowest load that it tried, above 1",
        source: SWEEPS,
        find: search_lower,
    },
    NextRule {
        name: "confirm_bound",
        evidence: "not all runs at the highest load that holds kept the limits",
        source: SWEEPS,
        find: confirm_bound,
    },
];

pub(super) const SOAK_RULES: &[SoakRule] = &[NextRule {
    name: "longer_soak",
    evidence: "a soak was not steady, or its throughput changed over its whole length",
    source: STEADY,
    find: longer_soak,
}];

/// The steps after this search.
pub(crate) fn after_search(search: &SearchEvidence) -> Vec<NextStep> {
    chosen(&[SEARCH_RULES.iter().filter_map(|rule| rule.step((rule.find)(search))).collect()])
}

/// The steps after this soak; its run has its own.
pub(crate) fn after_soak(soak: &SoakEvidence) -> Vec<NextStep> {
    chosen(&[SOAK_RULES.iter().filter_map(|rule| rule.step((rule.find)(soak))).collect()])
}

impl SearchEvidence {
    fn command(&self, more: &str) -> String {
        let limits: String = self.limits.iter().map(|limit| format!(" --limit {}", quoted(limit))).collect();
        format!("dyno search --over {}{limits} {more}", self.over)
    }
}

fn search_higher(search: &SearchEvidence) -> Option<FoundStep> {
    let highest = search.holds.filter(|_| search.found && search.breaks.is_none())?;
    let sentence = "the limits hold at the highest load tried; search further".to_owned();
    Some((sentence, Some(search.command(&format!("--from {highest} --max {}", highest.saturating_mul(8))))))
}

fn search_lower(search: &SearchEvidence) -> Option<FoundStep> {
    let lowest = search.breaks.filter(|lowest| search.holds.is_none() && *lowest > 1)?;
    let sentence = "even the lowest load tried breaks the limits; begin lower".to_owned();
    Some((sentence, Some(search.command(&format!("--from {} --max {lowest}", (lowest / 8).max(1))))))
}

fn confirm_bound(search: &SearchEvidence) -> Option<FoundStep> {
    let highest = search.holds.filter(|_| search.found && search.kept.0 < search.kept.1)?;
    let (kept, runs) = search.kept;
    let sentence = format!("{kept} of {runs} runs kept the limits at the bound; confirm it with more runs");
    let confirm = runs.saturating_mul(3).min(100);
    Some((sentence, Some(search.command(&format!("--from {highest} --confirm {confirm}")))))
}

fn longer_soak(soak: &SoakEvidence) -> Option<FoundStep> {
    (!soak.is_steady || soak.drifts).then(|| {
        let why = if soak.drifts { "throughput still changed" } else { "it was not steady" };
        let sentence = format!("{why} within {}; soak longer", span_s(soak.seconds));
        (sentence, Some(format!("dyno soak --time {}s", (soak.seconds * 3.0).ceil().max(600.0))))
    })
}
