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
    comparison: Comparison,
    gates: Vec<GateResult>,
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
            Answer { comparison, gates }
        };
        (1..sides.len()).map(answer).collect()
    }

    /// Shows answers, and says whether a gate is broken.
    pub(super) fn show(&self, answers: &[Answer], talk: &Talk) -> anyhow::Result<Exit> {
        let texts: Vec<String> = answers
            .iter()
            .map(|answer| dyno_report::compare_text(&answer.comparison, &answer.gates, &talk.style()))
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
