//! `dyno trend`: what became of a measure over the runs of one plan.

use dyno_analyze::totals;
use dyno_analyze::trend::{Search, history_of, leading_measure, trend};
use dyno_campaign::select;
use dyno_record::RunRecord;

use crate::cli::{self, Common};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &cli::Trend, talk: &Talk) -> anyhow::Result<Exit> {
    if !(args.significance > 0.0 && args.significance <= 0.5) {
        let problem = format!("--significance {} is no chance above 0 and up to 0.5", args.significance);
        return Err(usage(problem, "write --significance 0.02"));
    }
    let repository = context::repository_to_read(common)?;
    let records = match &args.runs {
        Some(selection) => select::of_runs(&repository, selection)?,
        None => select::like(&repository, &args.like, args.limit)?,
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
