//! `dyno run`: executes one run, from plan to stored record.

use crate::cli::{CommonArgs, RunArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::{context, fleet};

pub(super) fn run(common: &CommonArgs, args: &RunArgs, talk: &Console) -> anyhow::Result<Exit> {
    let common = &args.window.applied(common);
    let plan = context::plan(common)?;
    fleet::refuse_unfit(&args.hosts, &plan)?;
    let record =
        context::run_campaign_on_screen("run", common, (&args.marks, Some(&args.hosts)), talk, |ctx| {
            dyno_campaign::run(ctx, plan)
        })?;
    Ok(record.status.into())
}
