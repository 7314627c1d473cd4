//! `dyno soak`: runs one setting for hours and reports its stability.

use dyno_analyze::CurveSummaries;
use dyno_analyze::conclusion::{Conclusion, ConclusionFigures};
use dyno_analyze::minutes::Minute;
use dyno_analyze::number;
use dyno_record::RunRecord;
use serde_json::json;

use super::dry_run::DryRun;
use crate::cli::{CommonArgs, SoakArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::{context, event_messages, fleet};

pub(super) fn run(common: &CommonArgs, args: &SoakArgs, talk: &Console) -> anyhow::Result<Exit> {
    let mut common = common.clone();
    common.set.push(format!("run.time={}", args.time));
    let plan = context::plan(&common)?;
    fleet::refuse_unfit(&args.hosts, &plan)?;
    if args.dry_run {
        let step = number::sessions(f64::from(plan.sessions()));
        return DryRun::of(vec![step], dyno_campaign::nominal_s(&plan)).show(talk);
    }
    let finished =
        context::run_campaign_on_screen("soak", &common, (&args.marks, Some(&args.hosts)), talk, |ctx| {
            dyno_campaign::soak(ctx, plan)
        })?;
    let exit = Exit::from(finished.worst);
    match (finished.records.last(), &finished.conclusion) {
        (Some(record), Some(conclusion)) => show(record, conclusion, talk)?,
        _ if exit == Exit::Interrupted => talk.say("stopped before anything was measured"),
        _ => {}
    }
    Ok(exit)
}

fn show(record: &RunRecord, conclusion: &Conclusion, talk: &Console) -> anyhow::Result<()> {
    let ConclusionFigures::Soak(soak) = &conclusion.figures else { return Ok(()) };
    let style = talk.style();
    talk.show(&event_messages::card(record, &style))?;
    talk.show("\n")?;
    talk.show(&dyno_report::minute_table(&soak.parts, &style))?;
    talk.show("\n")?;
    let findings = conclusion.sentences();
    for finding in findings.iter().chain(&conclusion.next_lines()) {
        event_messages::show(finding, 2, talk)?;
    }
    talk.json(&json!({
        "answers": CurveSummaries::of_run(record), "run": record.id, "part_of": record.part_of, "status": record.status, "part_seconds": soak.part_seconds,
        "findings": findings, "next": conclusion.next, "parts": soak.parts.iter().map(part_json).collect::<Vec<_>>(),
    }))?;
    talk.say(&format!("stored as {}; `dyno show {}` shows the full record", record.id, conclusion.of));
    Ok(())
}

fn part_json(part: &Minute) -> serde_json::Value {
    json!({
        "at_s": part.at_s, "ops_per_s": part.ops_per_s, "p99_us_median": part.p99_us.map(|p99| p99.0),
        "p99_us_worst": part.p99_us.map(|p99| p99.1), "max_us": part.max_us, "errors": part.errors,
        "redo_mb_per_s": part.redo_mb_per_s, "stalls": part.stalls,
        "checkpoints": part.checkpoints,
    })
}
