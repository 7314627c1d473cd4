//! `dyno awr timeline`: reports in the order of time, gaps and anomalies flagged.

use dyno_awr::timeline::{Flag, MEASURES, POINTS_MIN, Point, Timeline, timelines};
use dyno_report::bars::{bar, sparkline};
use dyno_report::number::{ABSENT, figure, fixed, optional};
use dyno_report::style::Paint;
use dyno_report::table::{Column, Table};
use serde_json::{Value, json};

use super::args::TimelineArgs;
use super::files;
use crate::exit::Exit;
use crate::talk::Talk;

/// Characters of the bar of active sessions, and of a chart of one measure.
const BAR: usize = 16;
const CHART: usize = 60;

/// Reasons that are told of one report.
const REASONS_MAX: usize = 4;

pub(super) fn run(args: &TimelineArgs, talk: &Talk) -> anyhow::Result<Exit> {
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
    for timeline in timelines.iter().filter(|timeline| timeline.points.len() < POINTS_MIN) {
        let name = &timeline.series.instance;
        talk.say(&format!("{name}: fewer than {POINTS_MIN} reports; too few to say what stands out"));
    }
    Ok(outcome.exit())
}

fn table(timeline: &Timeline, talk: &Talk) -> String {
    let style = talk.style();
    let first = timeline.points.first().map(|(point, _)| point);
    let database = first.and_then(|point| point.db_name.as_deref()).unwrap_or(ABSENT);
    let kind = timeline.series.kind.name();
    let title =
        format!("{database} / {} ({kind}, {} reports)", timeline.series.instance, timeline.points.len());
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
    let largest = timeline.points.iter().filter_map(|(point, _)| point.values[0]).fold(0.0, f64::max);
    let mut table = Table::new(vec![
        Column::text("begin"),
        Column::text("snapshots"),
        Column::figures("active", ""),
        Column::text("sessions"),
        Column::figures("CPU", "%"),
        Column::figures("read", "/s"),
        Column::figures("write", "/s"),
        Column::figures("read", "ms"),
        Column::text("top event"),
    ]);
    for (point, flags) in &timeline.points {
        let value = |measure: usize| point.values[measure];
        let begin = point.begin.map_or_else(|| ABSENT.into(), |at| at.strftime("%Y-%m-%d %H:%M").to_string());
        let snaps = point.snaps.map_or_else(|| ABSENT.into(), |(begin, end)| format!("{begin}–{end}"));
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
