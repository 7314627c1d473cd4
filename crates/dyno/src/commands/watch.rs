//! `dyno watch`: observes a running database without load.

use crate::cli::{CommonArgs, WatchArgs};
use crate::console::Console;
use crate::context;
use crate::exit::Exit;

pub(super) fn run(common: &CommonArgs, args: &WatchArgs, talk: &Console) -> anyhow::Result<Exit> {
    let mut common = common.clone();
    if let Some(url) = &args.url {
        common.target = vec![url.clone()];
    }
    common.set.extend([format!("run.time={}", args.time), format!("observe.interval={}", args.interval)]);
    let plan = context::plan(&common)?;
    let record = context::run_campaign_with_agents(&common, (&args.marks, &args.met), talk, |ctx| {
        dyno_campaign::watch(ctx, &plan)
    })?;
    Ok(record.status.into())
}
