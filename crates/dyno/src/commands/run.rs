//! `dyno run`: one run, from plan to stored record.

use crate::cli::{Common, Run};
use crate::context;
use crate::exit::Exit;
use crate::talk::Talk;
use crate::terminal::Terminal;

pub(super) fn run(common: &Common, args: &Run, talk: &Talk) -> anyhow::Result<Exit> {
    let terminal = Terminal::new(talk);
    let lead = context::lead(common, &args.marks, &terminal);
    let record = terminal.outcome(dyno_campaign::run(&lead, context::plan(common)?))?;
    Ok(record.status.into())
}
