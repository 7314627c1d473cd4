//! `dyno capacity`: compares measured capacity with present use.

use std::collections::BTreeMap;

use dyno_analyze::capacity::{CapacityRow, capacity};
use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::{conclusions, files, select};
use dyno_record::{RecordKind, RunRecord};
use dyno_report::html::pages;
use dyno_report::{capacity_sections, capacity_text};

use crate::cli::{CapacityArgs, CommonArgs};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &CapacityArgs, talk: &Console) -> anyhow::Result<Exit> {
    let repository = context::repository_to_read(common)?;
    let measured = select::records(&repository, &args.measured)?;
    if let Some(watch) = measured.iter().find(|record| record.kind == RecordKind::Watch) {
        let hint = "name a suite, a sweep or runs first, then watches or imported reports";
        return Err(usage(format!("{} is a watch, which measures no capacity", watch.id), hint));
    }
    let mut use_of: Vec<RunRecord> = Vec::new();
    for selection in &args.use_of {
        use_of.extend(select::records(&repository, selection)?);
    }
    if let Some(run) = use_of.iter().find(|record| record.kind == RecordKind::Run) {
        let hint = "`dyno watch` observes a database under its own load; `dyno import` imports reports";
        return Err(usage(format!("{} is a run with Dyno's load, not present use", run.id), hint));
    }
    use_of.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    let keys: BTreeMap<String, String> = conclusions::of(&repository, &measured)?
        .into_iter()
        .filter_map(|conclusion| match conclusion.figures {
            ConclusionFigures::Suite(suite) => Some(suite.tests),
            _ => None,
        })
        .flatten()
        .filter_map(|test| Some((test.page.id, test.page.metric?)))
        .collect();
    let utilization = capacity(&measured, &use_of, &keys);
    talk.json(&utilization)?;
    talk.show(&capacity_text(&utilization, &talk.style()))?;
    if let Some(path) = &args.output {
        let page = pages(
            "Capacity",
            &format!("{} against present use", args.measured),
            &capacity_sections(&utilization),
        );
        files::replace(path, page.as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    let is_over = |over: f64| {
        utilization.rows.is_empty()
            || utilization.rows.iter().map(CapacityRow::fullness).any(|share| share > over)
    };
    Ok(if args.over.is_some_and(is_over) { Exit::Invalid } else { Exit::Done })
}
