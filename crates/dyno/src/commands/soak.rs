//! `dyno soak`: one setting for hours, and whether it lasts.

use dyno_analyze::minutes::{Minute, minutes};
use dyno_analyze::{stall, steady};
use dyno_record::{RunRecord, SweepKind};
use dyno_target::Work;
use serde_json::json;

use super::campaign::{Campaign, Ended, Part};
use super::ready::{Loading, Ready};
use crate::cli::{Common, Soak};
use crate::context;
use crate::exit::Exit;
use crate::talk::Talk;

/// Parts that a run shorter than this many minutes is shown in.
const PARTS_MIN: f64 = 10.0;

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
    let ended = campaign.run(&part, &Loading::Never, "soak".to_owned(), None)?;
    let exit = campaign.end(matches!(ended, Ended::Stored(_)))?;
    match ended {
        Ended::Stored(record) | Ended::Interrupted(Some(record)) => show(&record, talk)?,
        Ended::Failed(reason) => talk.error(&reason, ""),
        Ended::Interrupted(None) => talk.say("stopped before anything was measured"),
    }
    Ok(exit)
}

fn show(record: &RunRecord, talk: &Talk) -> anyhow::Result<()> {
    let seconds = record.window.as_ref().map_or(0.0, |window| window.seconds);
    let length_s = if seconds >= PARTS_MIN * 60.0 {
        60.0
    } else {
        (seconds / PARTS_MIN).max(record.series.interval_s).max(0.1)
    };
    let parts = minutes(record, length_s);
    let style = talk.style();
    talk.show(&super::show::card(record, &style))?;
    talk.show("\n")?;
    talk.show(&dyno_report::minute_table(&parts, &style))?;
    talk.show("\n")?;
    let findings = findings(record, length_s);
    for finding in &findings {
        super::show_words(finding, 2, talk)?;
    }
    talk.json(&json!({
        "run": record.id, "part_of": record.part_of, "status": record.status, "part_seconds": length_s,
        "findings": findings, "parts": parts.iter().map(part_json).collect::<Vec<_>>(),
    }))?;
    talk.say(&format!("stored as {}; `dyno show {0}` shows all of it", record.id));
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

/// The most marks that are told one by one.
const MARKS_MAX: usize = 10;

/// Whether it lasted, in words: steady state, drift or cliff, and the moments at which work stood still or slowed down.
fn findings(record: &RunRecord, length_s: f64) -> Vec<String> {
    const MEASURE: &str = "ops_per_s";
    let rounds = steady::rounds(&record.series, length_s);
    let mut findings = vec![
        steady::sentence(&rounds, length_s, MEASURE),
        steady::change(&rounds).sentence(length_s, MEASURE),
    ];
    let marks = stall::marks(&record.series);
    findings.extend(marks.iter().take(MARKS_MAX).map(stall::Marked::phrase));
    if marks.len() > MARKS_MAX {
        findings.push(format!("{} more such moments; the table counts them", marks.len() - MARKS_MAX));
    }
    findings
}
