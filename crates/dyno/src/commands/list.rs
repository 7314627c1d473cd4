//! `dyno list`: the runs in the repository.

use dyno_analyze::Answer;
use dyno_analyze::conclusion::Figures;
use dyno_campaign::conclusions;
use dyno_record::{Filter, Repository, RunState, RunSummary, SweepId, SweepSummary};
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
    let lines: Vec<Line> = sweeps.into_iter().map(|sweep| Line::of(repository, sweep)).collect();
    if lines.is_empty() {
        talk.say("no sweeps yet: `dyno sweep` makes one");
    } else {
        let shown: Vec<_> = lines.iter().map(|line| (line.sweep.clone(), line.line.clone())).collect();
        talk.show(&dyno_report::sweep_list(&shown, &talk.style()))?;
        // Of what runs of one plan say a run says all.
        let newest = |id: &SweepId| {
            repository.list(&Filter { limit: Some(1), sweep: Some(id.clone()), ..Filter::default() })
        };
        let runs: Vec<Vec<RunSummary>> =
            lines.iter().map(|line| newest(&line.sweep.id)).collect::<Result<_, _>>()?;
        talk.show(&dyno_report::notes_text(&runs.concat(), &talk.style()))?;
    }
    talk.json(&lines)?;
    Ok(Exit::Done)
}

/// A sweep with what it came to.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    sweep: SweepSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Vec<Answer>>,
}

impl Line {
    /// What another version concluded may not be read here; the list is whole all the same.
    fn of(repository: &Repository, sweep: SweepSummary) -> Self {
        match conclusions::stored(repository, &sweep.id) {
            Ok(conclusion) => {
                let line = conclusion.as_ref().map(|conclusion| conclusion.line.clone());
                let answers = match conclusion.map(|conclusion| conclusion.figures) {
                    Some(Figures::Sweep(sweep)) => Some(sweep.answers),
                    _ => None,
                };
                Self { sweep, line, answers }
            }
            Err(error) => Self { sweep, line: Some(format!("not readable here: {error}")), answers: None },
        }
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
