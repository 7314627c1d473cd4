//! `dyno awr timeline`: shows reports in time order and flags gaps, level changes and anomalies.

mod charts;
mod clock;
mod columns;
mod json;
mod measures;
mod page;
mod stacks;
mod table;
mod words;

use std::path::Path;

use anyhow::Context as _;
use dyno_awr::timeline::{AwrTimelinePoint, POINTS_MIN, timelines};
use dyno_report::chart::sheet::sheet;
use dyno_report::chart::svg::SvgPlacement;
use serde_json::Value;

use super::files;
use crate::cli::TimelineArgs;
use crate::console::Console;
use crate::exit::{Exit, usage};

pub(super) fn run(args: &TimelineArgs, talk: &Console) -> anyhow::Result<Exit> {
    let form = args.output.as_deref().map(form).transpose()?;
    let (points, outcome) =
        files::collect(&files::input_files(&args.files)?, talk, |report| AwrTimelinePoint::of(&report))?;
    let timelines = timelines(points);
    talk.json(&timelines.iter().map(|line| json::timeline_json(line, args.object_names)).collect::<Value>())?;
    let tables: Vec<String> = timelines.iter().map(|timeline| table::text(timeline, talk)).collect();
    talk.show(&tables.join("\n"))?;
    if let (Some(path), Some(form)) = (&args.output, form) {
        let text = match form {
            Form::Page => page::page(&timelines, args.object_names),
            Form::Picture => {
                sheet(&timelines.iter().flat_map(charts::charts).collect::<Vec<_>>(), SvgPlacement::Alone)
            }
        };
        dyno_campaign::files::replace(path, text.as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
        talk.say(&format!("written: {}", path.display()));
    }
    let short = timelines.iter().filter(|timeline| timeline.points.len() < POINTS_MIN).count();
    if short > 0 {
        talk.say(&format!(
            "anomalies need {POINTS_MIN} reports or more; {short} of {} timelines have fewer",
            timelines.len()
        ));
    }
    Ok(outcome.exit())
}

/// Format of the output written besides the text.
#[derive(Clone, Copy)]
enum Form {
    Page,
    Picture,
}

fn form(path: &Path) -> anyhow::Result<Form> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => Ok(Form::Page),
        Some("svg") => Ok(Form::Picture),
        _ => Err(usage(
            format!("{} is neither a page nor a picture", path.display()),
            "name a file that ends with .html or .svg",
        )),
    }
}
