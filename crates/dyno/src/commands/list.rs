//! `dyno list`: lists the runs in the repository.

use dyno_analyze::CurveSummary;
use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::conclusions;
use dyno_record::{Filter, Repository, RunState, RunSummary, SweepId, SweepSummary};
use serde::Serialize;

use crate::cli::{CommonArgs, List};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &List, talk: &Console) -> anyhow::Result<Exit> {
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

fn sweeps(repository: &Repository, args: &List, talk: &Console) -> anyhow::Result<Exit> {
    let sweeps = repository.sweeps(None, args.limit)?;
    let lines: Vec<Line> = sweeps.into_iter().map(|sweep| Line::of(repository, sweep)).collect();
    if lines.is_empty() {
        talk.say("no sweeps yet: `dyno sweep` makes one");
    } else {
        let shown: Vec<_> = lines.iter().map(|line| (line.sweep.clone(), line.line.clone())).collect();
        talk.show(&dyno_report::sweep_list(&shown, &talk.style()))?;
        // A note about a plan is the same for all its runs, so the newest run suffices.
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

/// A sweep with its result.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    sweep: SweepSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Vec<CurveSummary>>,
}

impl Line {
    /// A conclusion of another version may be unreadable; the list is complete anyway.
    fn of(repository: &Repository, sweep: SweepSummary) -> Self {
        match conclusions::stored(repository, &sweep.id) {
            Ok(conclusion) => {
                let line = conclusion.as_ref().map(|conclusion| conclusion.line.clone());
                let answers = match conclusion.map(|conclusion| conclusion.figures) {
                    Some(ConclusionFigures::Sweep(sweep)) => Some(sweep.answers),
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
    let state_names = || RunState::ALL.map(RunState::name).join(", ");
    let state = RunState::from_name(name);
    state
        .map(Some)
        .ok_or_else(|| usage(format!("unknown run status {name:?}"), format!("use one of {}", state_names())))
}
