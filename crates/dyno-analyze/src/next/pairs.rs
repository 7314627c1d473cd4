//! Steps after an A/B test: how many pairs would decide, and whether they can.

use super::{FoundStep, NextRule, NextStep, chosen};
use crate::compare::rank::{fewest_pairs, least_p};
use crate::compare::{ComparisonVerdict, MARGIN_PCT, OverallComparison, RunComparison, SIGNIFICANCE};
use crate::number::{fixed, percent};

/// More pairs than this are no advice.
const PAIRS_MAX: f64 = 100.0;
/// Pairs of a test by default.
const PAIRS: usize = 10;

const AB: &str = "docs/guides/ab.md";
const SWEEPS: &str = "docs/guides/sweeps.md";
const RANKS: &str = "docs/guides/comparing.md";

/// What an A/B test found for its leading measure.
#[derive(Debug, Clone)]
pub(crate) struct PairsEvidence {
    /// The settings of both sides, as `--a` and `--b` take them; absent where they are unknown.
    pub(crate) sides: Option<(String, String)>,
    /// The server settings of the sides, as `--setting` takes them.
    pub(crate) server_settings: Vec<String>,
    /// Valid runs of each side.
    pub(crate) runs: (usize, usize),
    /// The least p that so many runs can have.
    pub(crate) least_p: f64,
    /// The fewest pairs that can be significant.
    pub(crate) fewest_pairs: usize,
    pub(crate) margin_pct: f64,
    /// Whether the margin is the one without an option.
    pub(crate) is_usual_margin: bool,
    pub(crate) difference_pct: Option<f64>,
    pub(crate) interval_pct: Option<(f64, f64)>,
    /// Whether the runs do not decide.
    pub(crate) is_open: bool,
    /// Whether background activity takes the verdict away.
    pub(crate) is_confounded: bool,
    /// The name of the test; absent for a comparison of stored runs.
    pub(crate) campaign: Option<String>,
    /// Which side is better, or that they are equal; absent without such a verdict.
    pub(crate) decision: Option<PairsDecision>,
}

/// What a test decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairsDecision {
    FirstBetter,
    SecondBetter,
    /// Equal within the margin, or different in a measure without a better direction.
    Neither,
}

impl PairsDecision {
    fn of(verdict: ComparisonVerdict) -> Option<Self> {
        match verdict {
            ComparisonVerdict::Faster => Some(Self::SecondBetter),
            ComparisonVerdict::Slower => Some(Self::FirstBetter),
            ComparisonVerdict::Same | ComparisonVerdict::More | ComparisonVerdict::Less => {
                Some(Self::Neither)
            }
            _ => None,
        }
    }
}

impl PairsEvidence {
    /// What `comparison` says of its `leading` measure with so many `runs` of each side. It does not know how the
    /// sides were set.
    pub(crate) fn of(comparison: &RunComparison, leading: &OverallComparison, runs: (usize, usize)) -> Self {
        Self {
            sides: None,
            server_settings: Vec::new(),
            runs,
            least_p: least_p(runs.0, runs.1),
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
            campaign: None,
            // Rates of operations that are not the same work rank nothing.
            decision: PairsDecision::of(leading.verdict).filter(|_| comparison.unequal_work.is_empty()),
        }
    }
}

type PairsRule = NextRule<fn(&PairsEvidence) -> Option<FoundStep>>;

pub(super) const RULES: &[PairsRule] = &[
    NextRule {
        name: "too_few_pairs",
        evidence: "an A/B test without a verdict has so few runs that no difference can be significant",
        source: RANKS,
        find: too_few_pairs,
    },
    NextRule {
        name: "more_pairs",
        evidence: "an A/B test is inconclusive, and its interval shows how many pairs would decide, at most 100",
        source: SWEEPS,
        find: more_pairs,
    },
    NextRule {
        name: "not_decidable",
        evidence: "an A/B test is inconclusive, and over 100 pairs would be needed to decide",
        source: SWEEPS,
        find: not_decidable,
    },
    NextRule {
        name: "same_conditions",
        evidence: "background activity differs between the sides, or is part of their figures",
        source: RANKS,
        find: same_conditions,
    },
    NextRule { name: "decided", evidence: "an A/B test is decided", source: AB, find: decided },
];

/// The steps after this test.
pub(crate) fn after_pairs(evidence: &PairsEvidence) -> Vec<NextStep> {
    chosen(&[RULES.iter().filter_map(|rule| rule.step((rule.find)(evidence))).collect()])
}

impl PairsEvidence {
    pub(super) fn can_be_significant(&self) -> bool {
        self.runs.0.min(self.runs.1) >= self.fewest_pairs
    }

    /// About how many pairs would decide: the interval shrinks with the square root of their number.
    /// It must leave 0 out, or lie within the margin.
    pub(super) fn needed(&self) -> Option<f64> {
        let (low, high) = self.interval_pct.filter(|_| self.is_open && self.can_be_significant())?;
        let difference = self.difference_pct?.abs();
        let half = (high - low) / 2.0;
        let room = if difference > self.margin_pct { difference } else { self.margin_pct - difference };
        let runs = self.runs.0.min(self.runs.1) as f64;
        let needed = (runs * (half / room).powi(2)).ceil().max(runs + 1.0);
        needed.is_finite().then_some(needed)
    }

    fn command(&self, pairs: usize) -> Option<String> {
        let (a, b) = self.sides.as_ref()?;
        let margin = match self.is_usual_margin {
            true => String::new(),
            false => format!(" --margin {}", self.margin_pct),
        };
        let settings = self.server_settings.iter().map(|setting| format!(" --setting {}", quoted(setting)));
        let settings = settings.collect::<String>();
        // Without plan keys, the settings are the whole difference.
        let keys = match (a.as_str(), b.as_str(), settings.is_empty()) {
            ("", "", false) => String::new(),
            _ => format!(" --a {} --b {}", quoted(a), quoted(b)),
        };
        Some(format!("dyno ab{keys}{settings} --pairs {pairs}{margin}"))
    }
}

/// A word for a shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |symbol: char| symbol.is_ascii_alphanumeric() || "._=,/:-@%+".contains(symbol);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn too_few_pairs(test: &PairsEvidence) -> Option<FoundStep> {
    (test.is_open && !test.can_be_significant()).then(|| {
        let (a, b) = test.runs;
        let sentence = format!(
            "{a} + {b} runs cannot be significant (least p = {}); {} pairs or more can",
            fixed(test.least_p, 2),
            test.fewest_pairs
        );
        (sentence, test.command(PAIRS.max(test.fewest_pairs)))
    })
}

fn more_pairs(test: &PairsEvidence) -> Option<FoundStep> {
    let needed = test.needed().filter(|needed| *needed <= PAIRS_MAX)? as usize;
    let more = needed - test.runs.0.min(test.runs.1);
    let pairs = if more == 1 { "pair" } else { "pairs" };
    Some((format!("about {more} more {pairs} would decide ({needed} in total)"), test.command(needed)))
}

fn not_decidable(test: &PairsEvidence) -> Option<FoundStep> {
    test.needed().filter(|needed| *needed > PAIRS_MAX)?;
    let (low, high) = test.interval_pct?;
    let sentence = format!(
        "over {} pairs would be needed to decide; the difference is at most {} %",
        fixed(PAIRS_MAX, 0),
        percent(low.abs().max(high.abs()))
    );
    Some((sentence, None))
}

fn same_conditions(test: &PairsEvidence) -> Option<FoundStep> {
    test.is_confounded.then(|| {
        let sentence = "keep other load off the host and the server, and repeat the test".to_owned();
        (sentence, test.command(test.runs.0.max(test.runs.1).max(test.fewest_pairs)))
    })
}

fn decided(test: &PairsEvidence) -> Option<FoundStep> {
    let campaign = test.campaign.as_ref()?;
    let decision = test.decision?;
    // The settings of the better side, as `NAME = VALUE`.
    let settings_of = |side: usize| {
        let value = |setting: &String| {
            let (name, values) = setting.split_once('=')?;
            Some(format!("`{name}` = {}", values.split(',').nth(side)?))
        };
        test.server_settings
            .iter()
            .map(value)
            .collect::<Option<Vec<_>>>()
            .filter(|settings| !settings.is_empty())
    };
    let sentence = match decision {
        PairsDecision::SecondBetter => match settings_of(1) {
            Some(settings) => format!(
                "side b is better, and the test restored the server's settings; to keep {}, set it in the server's configuration. The report shows both sides",
                settings.join(" and ")
            ),
            None => "side b is better: use its settings in the plan. The report shows both sides".to_owned(),
        },
        PairsDecision::FirstBetter => {
            "side a is better: keep its settings. The report shows both sides".to_owned()
        }
        PairsDecision::Neither => {
            "no side is better: choose by other reasons. The report shows both sides".to_owned()
        }
    };
    Some((sentence, Some(format!("dyno report {campaign} -o {campaign}.html"))))
}
