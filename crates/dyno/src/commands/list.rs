//! `dyno list`: the runs in the repository.

use dyno_analyze::Answer;
use dyno_analyze::conclusion::{Conclusion, Figures};
use dyno_campaign::conclusions;
use dyno_record::{Filter, Repository, RunState, SweepSummary};
use serde::Serialize;

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
    let concluded = |sweep: SweepSummary| {
        let conclusion = conclusions::stored(repository, &sweep.id)?;
        Ok((sweep, conclusion))
    };
    let sweeps: Vec<(SweepSummary, Option<Conclusion>)> =
        sweeps.into_iter().map(concluded).collect::<anyhow::Result<_>>()?;
    if sweeps.is_empty() {
        talk.say("no sweeps yet: `dyno sweep` makes one");
    } else {
        talk.show(&dyno_report::sweep_list(&sweeps, &talk.style()))?;
    }
    talk.json(&sweeps.iter().map(Line::of).collect::<Vec<_>>())?;
    Ok(Exit::Done)
}

/// A sweep as JSON, with what it came to.
#[derive(Serialize)]
struct Line<'l> {
    #[serde(flatten)]
    sweep: &'l SweepSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<&'l [Answer]>,
}

impl<'l> Line<'l> {
    fn of((sweep, conclusion): &'l (SweepSummary, Option<Conclusion>)) -> Self {
        let answers = match conclusion.as_ref().map(|conclusion| &conclusion.figures) {
            Some(Figures::Sweep(sweep)) => Some(sweep.answers.as_slice()),
            _ => None,
        };
        Self { sweep, line: conclusion.as_ref().map(|conclusion| conclusion.line.as_str()), answers }
    }
}

fn status(args: &List) -> anyhow::Result<Option<RunState>> {
    let Some(name) = &args.status else { return Ok(None) };
    let known = || RunState::ALL.map(RunState::name).join(", ");
    let state = RunState::from_name(name);
    state
        .map(Some)
        .ok_or_else(|| usage(format!("{name:?} is no status of a run"), format!("one of {}", known())))
}
