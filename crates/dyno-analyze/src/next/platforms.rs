//! Steps after `dyno scorecard` and `dyno price`: missing tests, unequal settings, and too few runs.

use super::pairs::quoted;
use super::suite::names;
use super::suite_rerun::{SuiteRerun, with_command};
use super::{FoundStep, NextRule, NextStep, chosen};

/// Runs of each side from which a difference can be significant.
const RUNS_MIN: usize = 4;

const PLATFORMS: &str = "docs/guides/platforms.md";

/// Tests of one platform.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlatformTests {
    pub(crate) platform: String,
    pub(crate) tests: Vec<String>,
    /// Fewest runs behind a figure of these tests.
    pub(crate) runs: usize,
    pub(crate) again: SuiteRerun,
}

/// A platform, and its plan keys that differ from the first one's: key, value of the first, own value.
pub(crate) type DifferingSettings = (PlatformTests, Vec<(String, String, String)>);

#[derive(Debug, Clone, Default)]
pub(crate) struct ScorecardEvidence {
    /// Tests that another platform ran, and this one did not.
    pub(crate) not_run: Option<PlatformTests>,
    /// The first platform with other plan settings.
    pub(crate) settings: Option<DifferingSettings>,
    /// Tests with too few runs to tell a difference from chance, of the platform with the fewest runs.
    pub(crate) few: Option<PlatformTests>,
    /// Tests whose platforms differ by less than their repeats, of the platform with the fewest runs.
    pub(crate) unsure: Option<PlatformTests>,
}

/// The two cheapest platforms for a unit of performance.
#[derive(Debug, Clone, Default)]
pub(crate) struct PriceEvidence {
    /// A unit whose prices do not decide: its name and the two cheapest platforms, the one to repeat with its
    /// test, and whether the ranges overlap (rather than a range being unknown).
    pub(crate) undecided: Option<(String, [String; 2], PlatformTests, bool)>,
    /// Tests with a price on another platform, that this one did not run.
    pub(crate) not_run: Option<PlatformTests>,
    /// Tests priced at the highest value, because no knee was found.
    pub(crate) no_knee: Option<PlatformTests>,
}

type ScorecardRule = NextRule<fn(&ScorecardEvidence) -> Option<FoundStep>>;
type PriceRule = NextRule<fn(&PriceEvidence) -> Option<FoundStep>>;

pub(super) const SCORECARD_RULES: &[ScorecardRule] = &[
    NextRule {
        name: "scorecard_not_run",
        evidence: "a platform did not run tests that another one ran",
        source: PLATFORMS,
        find: |card| not_run(card.not_run.as_ref()?),
    },
    NextRule {
        name: "scorecard_settings",
        evidence: "the suites of two platforms had different depths, amounts of data or times",
        source: PLATFORMS,
        find: settings,
    },
    NextRule {
        name: "scorecard_few_runs",
        evidence: "tests have too few runs to tell their difference from chance",
        source: PLATFORMS,
        find: few_runs,
    },
    NextRule {
        name: "scorecard_unsure",
        evidence: "platforms differ by 5 % or more in a test, and the ranges of its repeats overlap",
        source: PLATFORMS,
        find: unsure,
    },
];

pub(super) const PRICE_RULES: &[PriceRule] = &[
    NextRule {
        name: "price_undecided",
        evidence: "the prices of the two cheapest platforms overlap, or one has no repeats",
        source: PLATFORMS,
        find: undecided,
    },
    NextRule {
        name: "price_not_run",
        evidence: "a platform did not run a test that has a price on another one",
        source: PLATFORMS,
        find: |price| not_run(price.not_run.as_ref()?),
    },
    NextRule {
        name: "price_no_knee",
        evidence: "a price refers to the highest value, because no knee was found",
        source: PLATFORMS,
        find: no_knee,
    },
];

/// The steps after this scorecard.
pub(crate) fn after_scorecard(card: &ScorecardEvidence) -> Vec<NextStep> {
    chosen(&[SCORECARD_RULES.iter().filter_map(|rule| rule.step((rule.find)(card))).collect()])
}

/// The steps after these prices.
pub(crate) fn after_price(price: &PriceEvidence) -> Vec<NextStep> {
    chosen(&[PRICE_RULES.iter().filter_map(|rule| rule.step((rule.find)(price))).collect()])
}

fn not_run(missing: &PlatformTests) -> Option<FoundStep> {
    let sentence =
        format!("{} did not run {}; run them there", missing.platform, names(missing.tests.iter()));
    with_command(sentence, missing.again.again(&missing.tests, ""))
}

fn settings(card: &ScorecardEvidence) -> Option<FoundStep> {
    let (platform, settings) = card.settings.as_ref()?;
    let described = |(key, first, own): &(String, String, String)| format!("{key}: {first}, {own}");
    let described = names(settings.iter().map(described).collect::<Vec<_>>().iter());
    let sentence = format!(
        "{} was measured with other settings than the first platform ({described}); use the same",
        platform.platform
    );
    let mut again = platform.again.clone();
    let mut more = String::new();
    for (key, first, _) in settings {
        match key.as_str() {
            "depth" => again.depth.clone_from(first),
            _ if dyno_plan::keys::find(key).is_none() || first.is_empty() => return Some((sentence, None)),
            _ => more.push_str(&format!(" --set {}", quoted(&format!("{key}={first}")))),
        }
    }
    with_command(sentence, again.again(&[], &more))
}

fn few_runs(card: &ScorecardEvidence) -> Option<FoundStep> {
    let few = card.few.as_ref()?;
    let runs = if few.runs == 1 { "1 run".to_owned() } else { format!("{} runs", few.runs) };
    let sentence = format!(
        "{} of {} has only {runs}; run suites of each platform alternately, {RUNS_MIN} or more of each",
        names(few.tests.iter()),
        few.platform
    );
    with_command(sentence, few.again.again(&few.tests, ""))
}

fn unsure(card: &ScorecardEvidence) -> Option<FoundStep> {
    let unsure = card.unsure.as_ref()?;
    let sentence = format!(
        "{}: the platforms differ by less than their repeats; repeat with long windows",
        names(unsure.tests.iter())
    );
    with_command(sentence, unsure.again.full(&unsure.tests))
}

fn undecided(price: &PriceEvidence) -> Option<FoundStep> {
    let (unit, [a, b], platform, overlap) = price.undecided.as_ref()?;
    let why = match overlap {
        true => "the prices overlap by their repeats".to_owned(),
        false => format!("{} has no repeats", platform.platform),
    };
    let sentence = format!("{unit}: {why}, so {a} and {b} are not ranked; repeat with long windows");
    with_command(sentence, platform.again.full(&platform.tests))
}

fn no_knee(price: &PriceEvidence) -> Option<FoundStep> {
    let priced = price.no_knee.as_ref()?;
    let sentence = format!(
        "no knee was found in {} on {}, so its price is that of the highest load tried; raise the load",
        names(priced.tests.iter()),
        priced.platform
    );
    with_command(sentence, priced.again.full(&priced.tests))
}
