//! `dyno watch`: what a running database does by itself.

use crate::cli::{Common, Watch};
use crate::context;
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Watch, talk: &Talk) -> anyhow::Result<Exit> {
    let mut common = common.clone();
    if let Some(url) = &args.url {
        common.target = vec![url.clone()];
    }
    common.set.extend([format!("run.time={}", args.length), format!("observe.interval={}", args.interval)]);
    let plan = context::plan(&common)?;
    let record = context::led_looking(&common, (&args.marks, &args.met), talk, |lead| {
        dyno_campaign::watch(lead, &plan)
    })?;
    Ok(record.status.into())
}
