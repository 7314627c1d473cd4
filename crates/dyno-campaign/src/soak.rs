//! `dyno soak`: one setting for hours, and whether it lasts.

use dyno_analyze::conclusion::{self, Conclusion, Figures};
use dyno_analyze::minutes::Minute;
use dyno_engine::Work;
use dyno_record::{RunRecord, SweepKind};
use serde_json::json;

use super::campaign::{Campaign, Ended, Part};
use super::ready::Ready;
use super::room::Loading;
use crate::cli::{Common, Soak};
use crate::context;
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Soak, talk: &Talk) -> anyhow::Result<Exit> {
    let mut common = common.clone();
    common.set.push(format!("run.time={}", args.time));
    let plan = context::plan(&common)?;
    let plan = dyno_plan::Plan { sweep: dyno_plan::Sweep::default(), ..plan };
    let mut ready = Ready::new(&common, plan.clone(), Work::Run, talk, |_| Ok(()))?;
    ready.marks = args.marks.clone();
    let mut campaign = Campaign::begin(ready, SweepKind::Soak, Some(1), &json!({ "plan": plan }), talk)?;
    let part = Part { plan: &plan, point: 1, repeat: 1, side: None, settings: &[] };
    talk.say(&format!("soaking for {}: Ctrl-C ends it and keeps what was measured", args.time));
    let ended = campaign.run(&part, &Loading::Never, "soak", None)?;
    let stopped = matches!(ended, Ended::Interrupted(_)).then(|| "it was stopped".to_owned());
    let concluded = match &ended {
        Ended::Stored(record) | Ended::Interrupted(Some(record)) => {
            let conclusion = conclusion::soak::conclusion(&campaign.id, stopped, record);
            campaign.conclude(&conclusion)?;
            Some((record, conclusion))
        }
        _ => None,
    };
    let exit = campaign.end(matches!(ended, Ended::Stored(_)))?;
    if let Some((record, conclusion)) = &concluded {
        show(record, conclusion, talk)?;
    }
    match &ended {
        Ended::Stored(_) | Ended::Interrupted(Some(_)) => {}
        Ended::Failed(reason) => talk.error(reason, ""),
        Ended::Interrupted(None) => talk.say("stopped before anything was measured"),
    }
    Ok(exit)
}

fn show(record: &RunRecord, conclusion: &Conclusion, talk: &Talk) -> anyhow::Result<()> {
    let Figures::Soak(soak) = &conclusion.figures else { return Ok(()) };
    let style = talk.style();
    talk.show(&super::show::card(record, &style))?;
    talk.show("\n")?;
    talk.show(&dyno_report::minute_table(&soak.parts, &style))?;
    talk.show("\n")?;
    let findings = conclusion.sentences();
    for finding in &findings {
        super::words::show_words(finding, 2, talk)?;
    }
    talk.json(&json!({
        "run": record.id, "part_of": record.part_of, "status": record.status, "part_seconds": soak.part_seconds,
        "findings": findings, "parts": soak.parts.iter().map(part_json).collect::<Vec<_>>(),
    }))?;
    talk.say(&format!("stored as {}; `dyno show {}` shows all of it", record.id, conclusion.of));
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
