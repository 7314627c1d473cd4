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
struct Answer {
    #[serde(flatten)]
    comparison: Comparison,
    gates: Vec<GateResult>,
}

pub(super) fn run(common: &Common, args: &cli::Compare, talk: &Talk) -> anyhow::Result<Exit> {
    let gates = gates(&args.gate)?;
    let rules = Rules { margin_pct: margin(args.margin)?, measures: measures(args, &gates) };
    let repository = context::repository_to_read(common)?;
    let sides = args.sides.iter().map(|selection| {
        let settings = totals::settings(select::records(&repository, selection)?);
        Ok(settings.into_iter().map(|setting| setting.whole).collect())
    });
    let sides: Vec<Vec<RunRecord>> = sides.collect::<anyhow::Result<_>>()?;
    let side = |i: usize| Side { name: args.sides[i].clone(), records: sides[i].iter().collect() };
    let answers: Vec<Answer> = (1..sides.len())
        .map(|i| {
            let comparison = compare(&side(0), &side(i), &rules);
            let gates = gates.iter().map(|gate| gate.check(&comparison)).collect();
            Answer { comparison, gates }
        })
        .collect();
    talk.json(&answers)?;
    let texts: Vec<String> = answers
        .iter()
        .map(|answer| dyno_report::compare_text(&answer.comparison, &answer.gates, &talk.style()))
        .collect();
    talk.show(&texts.join("\n"))?;
    let broken = answers.iter().flat_map(|answer| &answer.gates).filter(|gate| !gate.holds).count();
    if broken > 0 {
        talk.say(&format!("{broken} of {} gates are broken", gates.len() * answers.len()));
        return Ok(Exit::Invalid);
    }
    Ok(Exit::Done)
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
fn measures(args: &cli::Compare, gates: &[Gate]) -> Vec<String> {
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
