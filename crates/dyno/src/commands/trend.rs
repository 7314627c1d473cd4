//! `dyno trend`: shows a measure over the runs of one plan.

use dyno_analyze::totals;
use dyno_analyze::trend::{ChangePointOptions, history_of, leading_measure, trend};
use dyno_campaign::select;
use dyno_record::RunRecord;

use crate::cli::{self, CommonArgs};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &cli::TrendArgs, talk: &Console) -> anyhow::Result<Exit> {
    if !(args.significance > 0.0 && args.significance <= 0.5) {
        let problem =
            format!("--significance {} is not a probability above 0 and up to 0.5", args.significance);
        return Err(usage(problem, "write --significance 0.02"));
    }
    let repository = context::repository_to_read(common)?;
    let records = match &args.runs {
        Some(selection) => select::of_runs(&repository, selection)?,
        None => select::like(&repository, &args.like, args.limit)?,
    };
    let wholes: Vec<RunRecord> = totals::settings(records).into_iter().map(|setting| setting.whole).collect();
    warn_other_plans(&wholes, talk);
    let latest: Vec<&RunRecord> = wholes.iter().collect();
    let search = ChangePointOptions {
        significance: args.significance,
        ..ChangePointOptions::for_history(latest.len())
    };
    let metric = args.metric.as_deref().unwrap_or_else(|| leading_measure(&latest));
    let trend = trend(&latest, metric, &search);
    talk.json(&trend)?;
    talk.show(&dyno_report::trend_text(&trend, &talk.style()))?;
    Ok(Exit::Done)
}

/// Notes differences between plans: named runs may have different plans.
fn warn_other_plans(records: &[RunRecord], talk: &Console) {
    let Some(first) = records.first() else { return };
    let history = history_of(first);
    let other_count = records.iter().filter(|record| history_of(record) != history).count();
    if other_count > 0 {
        talk.say(&format!(
            "warning: {other_count} of {} runs have another plan or target than {}, so a change may come \
                from that difference",
            records.len(),
            first.id
        ));
    }
}
