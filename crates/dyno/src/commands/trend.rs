//! `dyno trend`: what became of a measure over the runs of one plan.

use dyno_analyze::totals;
use dyno_analyze::trend::{Search, history_of, leading_measure, trend};
use dyno_record::{Filter, Repository, RepositoryError, RunRecord};

use crate::cli::{self, Common};
use crate::exit::{Exit, usage};
use crate::talk::Talk;
use crate::{context, select};

pub(super) fn run(common: &Common, args: &cli::Trend, talk: &Talk) -> anyhow::Result<Exit> {
    if !(args.significance > 0.0 && args.significance <= 0.5) {
        let problem = format!("--significance {} is no chance above 0 and up to 0.5", args.significance);
        return Err(usage(problem, "write --significance 0.02"));
    }
    let repository = context::repository_to_read(common)?;
    let records = match &args.runs {
        Some(selection) => select::records(&repository, selection)?,
        None => like(&repository, &args.like, args.limit)?,
    };
    let wholes: Vec<RunRecord> = totals::settings(records).into_iter().map(|setting| setting.whole).collect();
    say_what_differs(&wholes, talk);
    let latest: Vec<&RunRecord> = wholes.iter().collect();
    let search =
        Search { significance: args.significance, shuffles: shuffles(latest.len()), ..Search::default() };
    let metric = args.metric.as_deref().unwrap_or_else(|| leading_measure(&latest));
    let trend = trend(&latest, metric, &search);
    talk.json(&trend)?;
    talk.show(&dyno_report::trend_text(&trend, &talk.style()))?;
    Ok(Exit::Done)
}

/// Shuffles that a history of so many runs takes: the steps grow with the square of the runs.
fn shuffles(runs: usize) -> usize {
    if runs <= 300 { 999 } else { 199 }
}

/// The latest runs of the same plan and target as `selector`.
fn like(repository: &Repository, selector: &str, limit: usize) -> anyhow::Result<Vec<RunRecord>> {
    let model = repository.load(selector)?;
    let history = history_of(&model);
    let summary = repository.summary(&model.id)?;
    // Summaries tell most others apart without opening their records.
    let filter = Filter { target: Some(summary.target.clone()), ..Filter::default() };
    let mut records = Vec::new();
    for run in repository.list(&filter)? {
        if (run.sessions, run.update_pct, &run.target)
            != (summary.sessions, summary.update_pct, &summary.target)
        {
            continue;
        }
        match repository.load(&run.id) {
            Ok(record) if history_of(&record) == history => records.push(record),
            Ok(_) | Err(RepositoryError::NoRecord { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if records.len() >= limit {
            break;
        }
    }
    Ok(records)
}

/// Runs that were named need not be of one plan; that they are not is worth knowing.
fn say_what_differs(records: &[RunRecord], talk: &Talk) {
    let Some(first) = records.first() else { return };
    let history = history_of(first);
    let others = records.iter().filter(|record| history_of(record) != history).count();
    if others > 0 {
        talk.say(&format!(
            "warning: {others} of {} runs have another plan or target than {}, so a change may be theirs",
            records.len(),
            first.id
        ));
    }
}
