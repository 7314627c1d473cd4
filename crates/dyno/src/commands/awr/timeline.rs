//! `dyno awr timeline`: reports in the order of time, gaps and anomalies flagged.

use std::path::Path;

use anyhow::Context as _;
use dyno_awr::timeline::{Flag, MEASURES, POINTS_MIN, Point, Timeline, timelines};
use dyno_report::bars::{bar, sparkline};
use dyno_report::chart::sheet::sheet;
use dyno_report::chart::svg::Look;
use dyno_report::grid::{Cell, Grid, Head};
use dyno_report::html::{Section, pages};
use dyno_report::number::{ABSENT, figure, fixed, optional};
use dyno_report::style::Paint;
use dyno_report::table::{Column, Table};
use serde_json::{Value, json};

use super::args::TimelineArgs;
use super::{charts, files};
use crate::exit::{Exit, usage};
use crate::talk::Talk;

/// Characters of the bar of active sessions, and of a chart of one measure.
const BAR: usize = 16;
const CHART: usize = 60;

/// Reasons that are told of one report.
const REASONS_MAX: usize = 4;

pub(super) fn run(args: &TimelineArgs, talk: &Talk) -> anyhow::Result<Exit> {
    let form = args.output.as_deref().map(form).transpose()?;
    let mut points: Vec<Point> = Vec::new();
    let wanted = files::wanted(&args.files)?;
    let outcome = files::read(
        &wanted,
        talk,
        |report| Point::of(&report),
        |point| {
            points.push(point);
            Ok(())
        },
    )?;
    let timelines = timelines(points);
    talk.json(&timelines.iter().map(spelled).collect::<Value>())?;
    let tables: Vec<String> = timelines.iter().map(|timeline| table(timeline, talk)).collect();
    talk.show(&tables.join("\n"))?;
    if let (Some(path), Some(form)) = (&args.output, form) {
        let text = match form {
            Form::Page => page(&timelines),
            Form::Picture => {
                sheet(&timelines.iter().flat_map(charts::charts).collect::<Vec<_>>(), Look::Alone)
            }
        };
        crate::files::replace(path, text.as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
        talk.say(&format!("written: {}", path.display()));
    }
    let short = timelines.iter().filter(|timeline| timeline.points.len() < POINTS_MIN).count();
    if short > 0 {
        talk.say(&format!(
            "what stands out is told of {POINTS_MIN} reports or more; {short} of {} lines of time have fewer",
            timelines.len()
        ));
    }
    Ok(outcome.exit())
}

/// What is written beside the text.
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

/// Whose line of time it is.
fn title(timeline: &Timeline) -> String {
    let first = timeline.points.first().map(|(point, _)| point);
    let database = first.and_then(|point| point.db_name.as_deref()).unwrap_or(ABSENT);
    let kind = timeline.series.kind.name();
    let reports = match timeline.points.len() {
        1 => "1 report".to_owned(),
        reports => format!("{reports} reports"),
    };
    format!("{database} / {} ({kind}, {reports})", timeline.series.instance)
}

/// All lines of time as a page.
fn page(timelines: &[Timeline]) -> String {
    let section = |timeline: &Timeline| {
        let mut grid = Grid::new(vec![
            Head::text("begin"),
            Head::text("snapshots"),
            Head::figures("active sessions", ""),
            Head::figures("CPU", "%"),
            Head::figures("read", "/s"),
            Head::figures("write", "/s"),
            Head::figures("read", "ms"),
            Head::text("top event"),
            Head::text("flags"),
        ]);
        for (point, flags) in &timeline.points {
            let value = |measure: usize| Cell::text(&optional(point.values[measure]));
            let (begin, snaps) = place(point);
            grid.row(vec![
                Cell::text(&begin),
                Cell::text(&snaps),
                value(0),
                value(1),
                value(3),
                value(4),
                value(7),
                Cell::text(point.top_event.as_deref().unwrap_or(ABSENT)),
                Cell { tone: "warn", ..Cell::text(&flags.iter().map(words).collect::<Vec<_>>().join("; ")) },
            ]);
        }
        let flags = timeline.points.iter().flat_map(|(_, flags)| flags);
        let found = flags.clone().count();
        let line = match found {
            0 => "Nothing stands out.".to_owned(),
            1 => "One thing stands out.".to_owned(),
            _ => format!("{found} things stand out; the table has the reasons."),
        };
        Section {
            title: title(timeline),
            lines: vec![line],
            charts: charts::charts(timeline),
            grid: Some(grid),
        }
    };
    let about = "From AWR and STATSPACK reports; times are those of the database hosts.";
    pages("Reports in the order of time", about, &timelines.iter().map(section).collect::<Vec<_>>())
}

/// Begin and snapshots, in words.
fn place(point: &Point) -> (String, String) {
    let begin = point.begin.map_or_else(|| ABSENT.into(), |at| at.strftime("%Y-%m-%d %H:%M").to_string());
    let snaps = point.snaps.map_or_else(|| ABSENT.into(), |(begin, end)| format!("{begin}–{end}"));
    (begin, snaps)
}

fn table(timeline: &Timeline, talk: &Talk) -> String {
    let style = talk.style();
    let title = title(timeline);
    let mut text = format!("{}\n", style.paint(Paint::Head, &dyno_report::text::clean(&title)));
    for (i, (_, name)) in MEASURES.iter().enumerate() {
        let values: Vec<f64> = timeline.points.iter().filter_map(|(point, _)| point.values[i]).collect();
        if values.len() > 1 {
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
            text.push_str(&format!(
                "{name:>18}  {}  {} – {}\n",
                sparkline(&values, CHART),
                figure(low),
                figure(high)
            ));
        }
    }
    // The first measure as a chart too: sparklines have no place in time.
    if let Some(chart) = charts::charts(timeline).first() {
        text.push_str(&format!(
            "\n{}\n",
            dyno_report::chart::terminal::text_chart(chart, talk.glyphs(), &style)
        ));
    }
    let largest = timeline.points.iter().filter_map(|(point, _)| point.values[0]).fold(0.0, f64::max);
    let mut table = Table::new(vec![
        Column::text("begin"),
        Column::text("snapshots").droppable(),
        Column::figures("active", ""),
        Column::text("sessions").droppable(),
        Column::figures("CPU", "%"),
        Column::figures("read", "/s"),
        Column::figures("write", "/s").droppable(),
        Column::figures("read", "ms"),
        Column::text("top event"),
    ]);
    for (point, flags) in &timeline.points {
        let value = |measure: usize| point.values[measure];
        let (begin, snaps) = place(point);
        let share = value(0).filter(|_| largest > 0.0).map_or(0.0, |active| active / largest);
        table.row([
            begin.into(),
            snaps.into(),
            optional(value(0)).into(),
            bar(share, BAR).into(),
            optional(value(1)).into(),
            optional(value(3)).into(),
            optional(value(4)).into(),
            optional(value(7)).into(),
            point.top_event.as_deref().unwrap_or(ABSENT).into(),
        ]);
        let outliers = flags.iter().filter(|flag| matches!(flag, Flag::Outlier { .. })).count();
        let others = flags.len() - outliers;
        for flag in flags.iter().take(others + REASONS_MAX) {
            let paint = if matches!(flag, Flag::Outlier { .. }) { Paint::Bad } else { Paint::Warn };
            table.note(&words(flag), paint);
        }
        if outliers > REASONS_MAX {
            table.note(&format!("and {} more figures that stand out", outliers - REASONS_MAX), Paint::Dim);
        }
    }
    text.push_str(&table.render(&style));
    text
}

/// A flag as a sentence.
fn words(flag: &Flag) -> String {
    let snapshots =
        |count: &u64| if *count == 1 { "1 snapshot".to_owned() } else { format!("{count} snapshots") };
    match flag {
        Flag::Gap { snapshots: count } => format!("gap: {} before this report are in none", snapshots(count)),
        Flag::Overlap { snapshots: count } => {
            format!("overlap: {} are in the report before too", snapshots(count))
        }
        Flag::Restart => "restart: the instance was started anew since the report before".to_owned(),
        Flag::Twice { file } => format!("twice: {file} is of the same interval and left out"),
        Flag::Outlier { measure, value, median, score } => {
            let side = if *score > 0.0 { "above" } else { "below" };
            let (_, name) = MEASURES[*measure];
            let score = fixed(score.abs(), 1);
            format!("anomaly: {name} {}, {score} σ {side} the median {}", figure(*value), figure(*median))
        }
    }
}

fn spelled(timeline: &Timeline) -> Value {
    let flag = |flag: &Flag| match flag {
        Flag::Gap { snapshots } => json!({ "flag": "gap", "snapshots": snapshots }),
        Flag::Overlap { snapshots } => json!({ "flag": "overlap", "snapshots": snapshots }),
        Flag::Restart => json!({ "flag": "restart" }),
        Flag::Twice { file } => json!({ "flag": "twice", "file": file }),
        Flag::Outlier { measure, value, median, score } => json!({
            "flag": "anomaly",
            "measure": MEASURES[*measure].0,
            "value": value,
            "median": median,
            "score": score,
            "reason": words(flag),
        }),
    };
    let point = |(point, flags): &(Point, Vec<Flag>)| {
        let values =
            MEASURES.iter().zip(&point.values).map(|((name, _), value)| ((*name).to_owned(), json!(value)));
        json!({
            "file": point.file,
            "begin": point.begin.map(|at| at.to_string()),
            "begin_snap": point.snaps.map(|(begin, _)| begin),
            "end_snap": point.snaps.map(|(_, end)| end),
            "top_event": point.top_event,
            "values": values.collect::<serde_json::Map<_, _>>(),
            "flags": flags.iter().map(flag).collect::<Value>(),
        })
    };
    json!({
        "report_type": timeline.series.kind.name(),
        "database": timeline.series.database,
        "instance": timeline.series.instance,
        "reports": timeline.points.iter().map(point).collect::<Value>(),
    })
}
