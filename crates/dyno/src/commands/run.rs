//! `dyno run`: one run, from plan to stored record.

use dyno_engine::Work;
use dyno_record::RunRecord;

use super::ready::Ready;
use crate::cli::{Common, Run};
use crate::context;
use crate::exit::Exit;
use crate::progress::RunProgress;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Run, talk: &Talk) -> anyhow::Result<Exit> {
    let mut ready = Ready::new(common, context::plan(common)?, Work::Run, talk, |_| Ok(()))?;
    ready.marks = args.marks.clone();
    let exit = run_one(&mut ready, talk);
    let ended = ready.after_all(talk);
    let exit = exit?;
    ended?;
    Ok(exit)
}

fn run_one(ready: &mut Ready, talk: &Talk) -> anyhow::Result<Exit> {
    let progress = RunProgress::new(talk);
    let record = ready.measure(None, talk, &progress)?;
    let shown = show(&record, talk)?;
    ready.after_run(&record, talk)?;
    Ok(shown)
}

fn show(record: &RunRecord, talk: &Talk) -> anyhow::Result<Exit> {
    talk.json(record)?;
    let style = talk.style();
    talk.show(&super::show::card(record, &style))?;
    talk.say(&format!("stored as {}; `dyno show {0}` shows all of it", record.id));
    Ok(record.status.into())
}
