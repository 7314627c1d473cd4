//! `dyno run`: one run, from plan to stored record.

use crate::cli::{Common, Run};
use crate::exit::Exit;
use crate::talk::Talk;
use crate::{context, fleet};

pub(super) fn run(common: &Common, args: &Run, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    fleet::refuse_unfit(&args.hosts, &plan)?;
    let record = context::led_on_screen("run", common, (&args.marks, Some(&args.hosts)), talk, |lead| {
        dyno_campaign::run(lead, plan)
    })?;
    Ok(record.status.into())
}
