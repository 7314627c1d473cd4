//! `dyno calibrate`: measures raw limits of this machine, without a database.

use std::path::{Path, PathBuf};

use dyno_calibrate::{CalibrationEvent, CalibrationPart, CalibrationSpec};
use dyno_campaign::{Error, ProgressEvent, RunPhase, RunResult, calibrate};
use dyno_engine::Cancel;
use dyno_report::number::span_s;

use crate::cli::{Calibrate, CommonArgs, DEFAULT_PLAN, MarkArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::progress::StepProgress;
use crate::{context, signals};

pub(super) fn run(common: &CommonArgs, args: &Calibrate, talk: &Console) -> anyhow::Result<Exit> {
    let order = CalibrationSpec {
        folder: folder(common, args, talk)?,
        quick: args.quick,
        parts: args.only.clone(),
        file_bytes: args.size.map(|size| size.0),
        commit_bytes: args.commit_size.0,
        p99_limit: args.p99.0,
        step: args.step.map(|step| step.0),
    };
    let repository = context::repository(common)?;
    let cancel = Cancel::default();
    signals::watch(&cancel)?;
    talk.say(&format!("measuring {} at {}", parts(&order), order.folder.display()));
    let progress = StepProgress::new(talk);
    let follower = |event: ProgressEvent| {
        if let Some(events) = &talk.events {
            events.enqueue(event);
        }
    };
    let tell = |told: CalibrationEvent<'_>| match told {
        CalibrationEvent::Step { description: what, left_s } => {
            let phase = format!("{what}; about {} left", span_s(left_s));
            follower(ProgressEvent::phase(RunPhase::Other(phase)));
            progress.step(what, left_s);
        }
        CalibrationEvent::Figure(figure) => {
            if let Some(why) = &figure.refused {
                let words = figure.test.words(figure.block_bytes);
                progress.say(&format!("{words}, {} at once: refused: {why}", figure.in_flight));
            }
        }
        CalibrationEvent::LeftOut(why) => progress.say(&format!("not measured: {why}")),
    };
    let made = dyno_calibrate::calibrate(&order, &cancel, &tell);
    progress.finish();
    let mut record = made.map_err(|error| {
        let hint = error.hint();
        Error::usage(error.to_string(), hint)
    })?;
    record.variant.clone_from(&args.marks.variant);
    record.tags.clone_from(&args.marks.tag);
    calibrate::store(&repository, &mut record)?;
    follower(ProgressEvent::Stored(Box::new(RunResult::of(&record))));
    talk.json(&record)?;
    talk.show(&dyno_report::show(&record, &talk.style()))?;
    let id = &record.id;
    talk.say(&format!("stored as {id}; `dyno show {id}` shows it again, `dyno report {id}` makes a page"));
    Ok(record.status.into())
}

fn parts(order: &CalibrationSpec) -> String {
    let all = if order.parts.is_empty() { CalibrationPart::ALL.to_vec() } else { order.parts.clone() };
    all.into_iter().map(CalibrationPart::name).collect::<Vec<_>>().join(", ")
}

/// The named folder, or the folder of the target's data; without a plan, the current one.
fn folder(common: &CommonArgs, args: &Calibrate, talk: &Console) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &args.folder {
        return Ok(folder.clone());
    }
    if common.target.is_empty() && common.plan == Path::new(DEFAULT_PLAN) && !common.plan.exists() {
        return Ok(".".into());
    }
    let plan = context::plan(common)?;
    context::run_campaign(common, &MarkArgs::default(), talk, |ctx| calibrate::folder(ctx, &plan))
}
