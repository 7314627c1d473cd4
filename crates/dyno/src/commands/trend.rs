//! `dyno trend`: shows a measure over the runs of one plan.

use dyno_analyze::compare::{ComparisonGate, GateError, GateOutcome};
use dyno_analyze::totals;
use dyno_analyze::trend::{ChangePointOptions, history_of, leading_measure, trend};
use dyno_campaign::select;
use dyno_record::RunRecord;
use serde_json::json;

use crate::cli::{self, CommonArgs};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &cli::TrendArgs, talk: &Console) -> anyhow::Result<Exit> {
    if !(args.significance > 0.0 && args.significance <= 0.5) {
        let problem =
            format!("--significance {} is not a probability above 0 and up to 0.5", args.significance);
        return Err(usage(problem, "write --significance 0.02"));
    }
    let gate: Option<ComparisonGate> = match &args.gate {
        Some(text) => {
            Some(text.parse().map_err(|error: GateError| usage(error.to_string(), GateError::HINT))?)
        }
        None => None,
    };
    if let Some(gate) = gate.as_ref().filter(|gate| gate.worst) {
        return Err(usage(
            format!("a trend has one value for each run, so {gate} has no worst point"),
            "leave the word worst out",
        ));
    }
    let repository = context::repository_to_read(common)?;
    let records = match &args.runs {
        Some(selection) => select::of_runs(&repository, selection)?,
        None => select::like(&repository, &args.like, args.limit)?,
    };
    let wholes: Vec<RunRecord> = totals::settings(records).into_iter().map(|setting| setting.whole).collect();
    warn_other_plans(&wholes, talk);
    let latest: Vec<&RunRecord> = wholes.iter().collect();
    let search = ChangePointOptions {
        significance: args.significance,
        ..ChangePointOptions::for_history(latest.len())
    };
    let of_gate = gate.as_ref().map(|gate| gate.measure.as_str());
    let metric = args.metric.as_deref().or(of_gate).unwrap_or_else(|| leading_measure(&latest));
    if let Some(measure) = of_gate.filter(|measure| *measure != metric) {
        return Err(usage(
            format!("--metric is {metric}, and --gate limits {measure}"),
            "leave --metric out: the trend is then of the gate's measure",
        ));
    }
    let trend = trend(&latest, metric, &search);
    let judged = gate.map(|gate| (trend.gate_outcome(&gate), gate));
    let mut answer = serde_json::to_value(&trend)?;
    if let (Some(((outcome, why), gate)), Some(fields)) = (&judged, answer.as_object_mut()) {
        fields
            .insert("gate".to_owned(), json!({ "limit": gate.to_string(), "outcome": outcome, "why": why }));
    }
    talk.json(&answer)?;
    talk.show(&dyno_report::trend_text(&trend, &talk.style()))?;
    let Some(((outcome, why), gate)) = judged else { return Ok(Exit::Done) };
    talk.show(&format!("gate {gate}: {}: {why}", outcome.words()))?;
    Ok(match outcome {
        GateOutcome::Passed => Exit::Done,
        GateOutcome::Failed => Exit::Invalid,
        GateOutcome::NotDecided => Exit::NotDecided,
    })
}

/// Notes differences between plans: named runs may have different plans.
fn warn_other_plans(records: &[RunRecord], talk: &Console) {
    let Some(first) = records.first() else { return };
    let history = history_of(first);
    let other_count = records.iter().filter(|record| history_of(record) != history).count();
    if other_count > 0 {
        talk.say(&format!(
            "warning: {other_count} of {} runs have another plan or target than {}, so a change may come \
                from that difference",
            records.len(),
            first.id
        ));
    }
}
