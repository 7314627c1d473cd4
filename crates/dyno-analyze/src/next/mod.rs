//! The next step after a result: what would lift its limit, or the experiment that would decide.
//!
//! Rules are data with a source. A rule gives a step only where the record, the curve or the
//! comparison has its evidence. Rules ask for settings and counters by name, never for the engine.

mod campaign;
mod capacity;
mod catalog;
mod comparison;
mod complete;
mod curve;
mod evidence;
mod facts;
mod health;
mod limits;
mod pairs;
mod platforms;
mod quality;
mod study;
mod suite;
mod suite_rerun;
mod watch;

#[cfg(test)]
mod commands_tests;
#[cfg(test)]
mod tests;

use dyno_record::{RecordKind, RunRecord, Status};
use serde::{Deserialize, Serialize};

pub(crate) use campaign::{SearchEvidence, SoakEvidence, after_search, after_soak};
pub(crate) use capacity::{CapacityEvidence, MeasuredLimit, after_capacity};
pub use catalog::{RuleDescription, rules};
pub(crate) use comparison::{ComparisonEvidence, DifferingSetting, after_comparison};
pub use complete::completed;
pub(crate) use curve::CurveEvidence;
use evidence::RunEvidence;
pub(crate) use health::{HealthEvidence, MissedExpectation, after_health};
pub(crate) use pairs::{PairsEvidence, after_pairs, quoted};
pub(crate) use platforms::{
    DifferingSettings, PlatformTests, PriceEvidence, ScorecardEvidence, after_price, after_scorecard,
};
pub(crate) use study::{StudyEvidence, after_study};
pub(crate) use suite::{SuiteEvidence, after_suite};
pub use suite_rerun::SuiteRerun;
pub use watch::after_watch;

use crate::limited::Bottleneck;

/// Most steps that one result names.
const STEPS_MAX: usize = 3;

/// One step after a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// The name of the rule, as the reference lists it.
    pub rule: String,
    /// What to do and why, in one sentence.
    pub sentence: String,
    /// The command that does it; absent where no command of Dyno does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl NextStep {
    /// The step with its command completed by these options.
    pub(crate) fn completed(self, options: &[String]) -> Self {
        Self { command: self.command.map(|command| completed(&command, options)), ..self }
    }

    /// Whether it is about the loads of a curve, rather than about a run.
    pub(crate) fn is_about_loads(&self) -> bool {
        curve::RULES.iter().any(|rule| rule.name == self.rule)
    }
}

/// The steps as the last lines of a summary. A command has a line of its own, to be copied.
pub fn next_lines(steps: &[NextStep]) -> Vec<String> {
    let lines = |step: &NextStep| match &step.command {
        Some(command) => vec![format!("next: {}:", step.sentence), format!("`{command}`")],
        None => vec![format!("next: {}", step.sentence)],
    };
    steps.iter().flat_map(lines).collect()
}

/// What a rule found: the sentence, and the command if there is one.
pub(crate) type FoundStep = (String, Option<String>);

/// A rule, for the evidence `E`.
pub(crate) struct NextRule<F> {
    pub(crate) name: &'static str,
    /// The evidence that it needs.
    pub(crate) evidence: &'static str,
    /// The page of the documentation, or the manual and its section.
    pub(crate) source: &'static str,
    pub(crate) find: F,
}

/// A rule for one run.
type RunRule = NextRule<fn(&RunEvidence<'_>) -> Option<FoundStep>>;

impl<F> NextRule<F> {
    /// The step with what `find` gives.
    pub(crate) fn step(&self, result: Option<FoundStep>) -> Option<NextStep> {
        let (sentence, command) = result?;
        Some(NextStep { rule: self.name.to_owned(), sentence, command })
    }
}

/// The step with the settings of the record's point in its campaign: a run, or an A/B test, of the plan alone would
/// measure another load. Commands that measure several loads set their own.
fn of_point(step: NextStep, record: &RunRecord) -> NextStep {
    let name = step.command.as_deref().and_then(|command| command.split(' ').nth(1)).unwrap_or_default();
    let Some(part) = record.part_of.as_ref().filter(|_| ["run", "ab"].contains(&name)) else { return step };
    let schemas = u64::from(record.plan.data.schemas.max(1));
    let sets = part.settings.iter().filter_map(|setting| match setting.key.as_str() {
        "sessions" => {
            let sessions = setting.value.parse::<u64>().ok()?;
            Some(format!("run.sessions_per_schema={}", sessions / schemas))
        }
        key => dyno_plan::keys::find(key).map(|_| format!("{key}={}", setting.value)),
    });
    let options: Vec<String> = sets.flat_map(|set| ["--set".to_owned(), set]).collect();
    step.completed(&options)
}

/// The steps after one run: about its figures, and about the platform.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunSteps {
    quality: Vec<NextStep>,
    facts: Vec<NextStep>,
    limits: Vec<NextStep>,
    /// The options of the run, for commands that repeat it.
    options: Vec<String>,
}

impl RunSteps {
    /// The steps after the run of `record`, which `limit` limited.
    pub(crate) fn of(record: &RunRecord, limit: &Bottleneck) -> Self {
        // What Dyno did not measure, it cannot repeat.
        if record.status == Status::Imported || !matches!(record.kind, RecordKind::Run) {
            return Self::default();
        }
        let evidence = RunEvidence { record, limit };
        let steps_of = |rules: &[RunRule]| {
            let steps = rules.iter().filter_map(|rule| rule.step((rule.find)(&evidence)));
            let steps = steps.map(|step| of_point(step, record));
            steps.map(|step| step.completed(&record.options)).collect::<Vec<_>>()
        };
        Self {
            quality: steps_of(quality::RULES),
            facts: steps_of(facts::RULES),
            limits: steps_of(limits::RULES),
            options: record.options.clone(),
        }
    }

    /// The steps after a run without a result: only its figures are in question.
    pub(crate) fn without_result(self) -> Vec<NextStep> {
        chosen(&[self.quality])
    }
}

/// The steps after the curve whose best point had `steps`.
pub(crate) fn after_curve(curve: &CurveEvidence, steps: &RunSteps) -> Vec<NextStep> {
    let RunSteps { quality, facts, limits, options } = steps.clone();
    let along = curve::RULES.iter().filter_map(|rule| rule.step((rule.find)(curve)));
    let along: Vec<NextStep> = along.map(|step| step.completed(&options)).collect();
    match curve.loads.len() {
        0 | 1 => chosen(&[quality, facts, limits, along]),
        _ => chosen(&[along, quality, facts, limits]),
    }
}

/// Up to three steps, the first of each family first. Only one of them is a sweep of sessions.
pub(crate) fn chosen(families: &[Vec<NextStep>]) -> Vec<NextStep> {
    let is_sweep = |step: &NextStep| {
        step.command.as_ref().is_some_and(|command| command.starts_with(curve::SWEEP_SESSIONS))
    };
    let longest = families.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..longest).flat_map(|place| families.iter().filter_map(move |steps| steps.get(place)));
    let mut all: Vec<NextStep> = Vec::new();
    for step in in_turn {
        let is_known = all.iter().any(|known| known.rule == step.rule || is_sweep(known) && is_sweep(step));
        if !is_known && all.len() < STEPS_MAX {
            all.push(step.clone());
        }
    }
    all
}
