//! `dyno compare`: two or more sets of runs against each other.

use dyno_analyze::compare::{Comparison, Gate, GateError, GateResult, Rules, Side, compare};
use dyno_analyze::totals;
use dyno_record::RunRecord;
use serde::Serialize;

use crate::cli::{self, Common};
use crate::exit::{Exit, usage};
use crate::talk::Talk;
use crate::{context, select};

/// What `--json` prints for each set but the first.
#[derive(Serialize)]
pub(super) struct Answer {
    #[serde(flatten)]
    pub(super) comparison: Comparison,
    pub(super) gates: Vec<GateResult>,
    /// Each target's own comparison, where both sides have as many of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Comparison>,
}

pub(super) fn run(common: &Common, args: &cli::Compare, talk: &Talk) -> anyhow::Result<Exit> {
    let judge = Judge::new(&args.rules)?;
    let repository = context::repository_to_read(common)?;
    let sides = args.sides.iter().map(|selection| {
        let settings = totals::settings(select::records(&repository, selection)?);
        Ok((selection.clone(), settings.into_iter().map(|setting| setting.whole).collect()))
    });
    let sides: Vec<(String, Vec<RunRecord>)> = sides.collect::<anyhow::Result<_>>()?;
    let answers = judge.answers(&sides);
    talk.json(&answers)?;
    judge.show(&answers, talk)
}

/// How sets of runs are compared: which measures, within which margin, and which gates they have to pass.
pub(super) struct Judge {
    gates: Vec<Gate>,
    rules: Rules,
}

impl Judge {
    pub(super) fn new(args: &cli::CompareRules) -> anyhow::Result<Self> {
        let gates = gates(&args.gate)?;
        let rules = Rules { margin_pct: margin(args.margin)?, measures: measures(args, &gates) };
        Ok(Self { gates, rules })
    }

    /// Holds every named set but the first against the first.
    pub(super) fn answers(&self, sides: &[(String, Vec<RunRecord>)]) -> Vec<Answer> {
        let side = |i: usize| Side { name: sides[i].0.clone(), records: sides[i].1.iter().collect() };
        let answer = |i| {
            let comparison = compare(&side(0), &side(i), &self.rules);
            let gates = self.gates.iter().map(|gate| gate.check(&comparison)).collect();
            let targets = self.of_targets(&sides[0], &sides[i]);
            Answer { comparison, gates, targets }
        };
        (1..sides.len()).map(answer).collect()
    }

    /// Holds each target's own parts of two sets against each other, if both have as many.
    fn of_targets(&self, a: &(String, Vec<RunRecord>), b: &(String, Vec<RunRecord>)) -> Vec<Comparison> {
        let (of_a, of_b) = (parts(&a.1), parts(&b.1));
        if of_a.len() != of_b.len() {
            return Vec::new();
        }
        let one = |((at, a_own), b_own): ((usize, &Vec<RunRecord>), &Vec<RunRecord>)| {
            let side = |name: &str, records: &[RunRecord]| {
                let url = records.first().map_or("", |record| record.targets[0].url.as_str());
                format!("{name}, target {} ({url})", at + 1)
            };
            let (name_a, name_b) = (side(&a.0, a_own), side(&b.0, b_own));
            let a_side = Side { name: name_a, records: a_own.iter().collect() };
            let b_side = Side { name: name_b, records: b_own.iter().collect() };
            compare(&a_side, &b_side, &self.rules)
        };
        of_a.iter().enumerate().zip(&of_b).map(one).collect()
    }

    /// Shows answers, and says whether a gate is broken.
    pub(super) fn show(&self, answers: &[Answer], talk: &Talk) -> anyhow::Result<Exit> {
        let texts: Vec<String> = answers
            .iter()
            .flat_map(|answer| {
                let whole = dyno_report::compare_text(&answer.comparison, &answer.gates, &talk.style());
                let own = answer.targets.iter().map(|own| dyno_report::compare_text(own, &[], &talk.style()));
                std::iter::once(whole).chain(own).collect::<Vec<_>>()
            })
            .collect();
        talk.show(&texts.join("\n"))?;
        let broken = answers.iter().flat_map(|answer| &answer.gates).filter(|gate| !gate.holds).count();
        if broken > 0 {
            talk.say(&format!("{broken} of {} gates are broken", self.gates.len() * answers.len()));
            return Ok(Exit::Invalid);
        }
        Ok(Exit::Done)
    }
}

/// The parts of records over several targets: for each target, its part of every record. Empty unless all have as many.
fn parts(records: &[RunRecord]) -> Vec<Vec<RunRecord>> {
    let each: Vec<Vec<RunRecord>> = records.iter().map(RunRecord::parts).collect();
    let targets = each.first().map_or(0, Vec::len);
    if each.iter().any(|parts| parts.len() != targets) {
        return Vec::new();
    }
    let of = |at: usize| each.iter().map(|parts| parts[at].clone()).collect();
    (0..targets).map(of).collect()
}

fn gates(texts: &[String]) -> anyhow::Result<Vec<Gate>> {
    let read =
        |text: &String| text.parse().map_err(|error: GateError| usage(error.to_string(), GateError::HINT));
    texts.iter().map(read).collect()
}

fn margin(percent: f64) -> anyhow::Result<f64> {
    if percent.is_finite() && (0.0..100.0).contains(&percent) {
        return Ok(percent);
    }
    Err(usage(format!("--margin {percent} is no share of 0 to 100 %"), "write --margin 2"))
}

/// The measures asked for; those of gates are compared in any case.
fn measures(args: &cli::CompareRules, gates: &[Gate]) -> Vec<String> {
    let mut measures = args.metric.clone();
    if measures.is_empty() && gates.is_empty() {
        return measures;
    }
    for gate in gates {
        if !measures.contains(&gate.measure) {
            measures.push(gate.measure.clone());
        }
    }
    measures
}
