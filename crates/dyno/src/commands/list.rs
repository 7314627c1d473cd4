//! `dyno list`: the runs in the repository.

use dyno_record::{Filter, Repository, RunState};

use crate::cli::{Common, List};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &List, talk: &Talk) -> anyhow::Result<Exit> {
    let status = status(args)?;
    let repository = context::repository_to_read(common)?;
    if args.sweeps {
        return sweeps(&repository, args, talk);
    }
    let sweep = args.sweep.as_ref().map(|selector| repository.resolve_sweep(selector)).transpose()?;
    let filter = Filter { limit: Some(args.limit), status, sweep, ..Filter::default() };
    let runs = repository.list(&filter)?;
    if runs.is_empty() {
        talk.say("no runs yet: `dyno run` makes one");
    } else {
        talk.show(&dyno_report::list_table(&runs, &talk.style()))?;
    }
    talk.json(&runs)?;
    Ok(Exit::Done)
}

fn sweeps(repository: &Repository, args: &List, talk: &Talk) -> anyhow::Result<Exit> {
    let sweeps = repository.sweeps(None, args.limit)?;
    if sweeps.is_empty() {
        talk.say("no sweeps yet: `dyno sweep` makes one");
    } else {
        talk.show(&dyno_report::sweep_list(&sweeps, &talk.style()))?;
    }
    talk.json(&sweeps)?;
    Ok(Exit::Done)
}

fn status(args: &List) -> anyhow::Result<Option<RunState>> {
    let Some(name) = &args.status else { return Ok(None) };
    let known = || RunState::ALL.map(RunState::name).join(", ");
    let state = RunState::from_name(name);
    state
        .map(Some)
        .ok_or_else(|| usage(format!("{name:?} is no status of a run"), format!("one of {}", known())))
}
