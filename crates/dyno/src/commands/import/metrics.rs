//! `dyno import metrics`: adds a cloud provider's database metrics to a run.

use dyno_campaign::select;
use dyno_import::TableNotation;
use dyno_import::metrics::{self, MetricFile};
use dyno_record::RunRecord;
use serde_json::json;

use crate::cli::{CommonArgs, ImportMetrics};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &ImportMetrics, talk: &Console) -> anyhow::Result<Exit> {
    let repository = context::repository(common)?;
    let mut records = select::of_runs(&repository, &args.run)?;
    if args.remove {
        let mut removed = 0;
        for record in records.iter_mut().filter(|record| !record.imported_metrics.is_empty()) {
            removed += std::mem::take(&mut record.imported_metrics).len();
            repository.amend(record)?;
        }
        talk.say(&format!("{removed} imported metrics removed"));
        talk.json(&json!({ "removed": removed }))?;
        return Ok(Exit::Done);
    }
    let files = read_all(args, talk)?;
    let period_s = args.period.as_deref().map(metrics::period).transpose()?;
    let mut updated = Vec::new();
    for record in &mut records {
        let run_metrics = metrics::of_run(record, &files, period_s)?;
        if run_metrics.is_empty() {
            if let Some(window) = &record.window {
                talk.say(&format!(
                    "{}: no row lies in its window, {} to {}",
                    record.id, window.begin, window.end
                ));
            }
            continue;
        }
        metrics::put(record, run_metrics);
        if !args.dry_run {
            repository.amend(record)?;
        }
        updated.push(&*record);
    }
    if updated.is_empty() {
        return Err(usage(
            format!(
                "no value lies in the window of a run: the values cover {}",
                metrics::covered_period(&files)
            ),
            "check --time-zone, and whether the export covers the run's window: `dyno show` shows it",
        ));
    }
    show(&updated, args.dry_run, talk)
}

/// Reads all files.
fn read_all(args: &ImportMetrics, talk: &Console) -> anyhow::Result<Vec<MetricFile>> {
    let notation = TableNotation {
        separator: Some(args.separator),
        decimal_mark: args.decimal_mark,
        date_order: args.date_order,
        time_zone: args.time_zone.clone(),
    };
    let mut all = Vec::new();
    for path in &args.files {
        let file = metrics::read_file(path, &notation, args.metric.as_deref())?;
        if file.is_last_line_open {
            talk.say(&format!(
                "warning: {}: its last line has no end: if the file is truncated, so is its last value",
                path.display()
            ));
        }
        all.push(file);
    }
    Ok(all)
}

fn show(records: &[&RunRecord], dry_run: bool, talk: &Console) -> anyhow::Result<Exit> {
    for record in records {
        if records.len() > 1 {
            talk.show(&format!("{}\n", record.id))?;
        }
        talk.show(&dyno_report::imported_metrics_text(record, &talk.style()))?;
    }
    let runs_json =
        records.iter().map(|record| json!({ "run": record.id, "imported_metrics": record.imported_metrics }));
    talk.json(&json!({ "runs": runs_json.collect::<Vec<_>>() }))?;
    let verb = if dry_run { "would be shown" } else { "are shown" };
    talk.say(&format!(
        "they {verb} with the run by `dyno show` and `dyno report`, and not used in its figures"
    ));
    Ok(Exit::Done)
}
