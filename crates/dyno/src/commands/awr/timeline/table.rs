//! A line of time in the terminal.

use dyno_awr::timeline::{Flag, MEASURES, Timeline};
use dyno_report::Style;
use dyno_report::bars::{bar, sparkline};
use dyno_report::chart::terminal::text_chart;
use dyno_report::number::{ABSENT, figure, optional};
use dyno_report::style::Paint;
use dyno_report::table::{Column, Table};
use dyno_report::text::{clean, wrap};

use super::columns::{ACTIVE, CPU, READ_MS, READS, UNACCOUNTED, WRITES};
use super::{charts, words};
use crate::talk::Talk;

/// Characters of the bar of active sessions, of the longest chart of one measure, and of what stands beside it.
const BAR: usize = 12;
const SPARK_MAX: usize = 60;
const SPARK_BESIDE: usize = 46;

/// Lines that one flag may take.
const LINES_MAX: usize = 4;

/// Of each kind, what goes closest with DB time.
const CLOSEST: usize = 5;

/// All that is said of a line of time.
pub(super) fn text(timeline: &Timeline, talk: &Talk) -> String {
    let style = talk.style();
    let mut text = format!("{}\n", style.paint(Paint::Head, &clean(&words::title(timeline))));
    text.push_str(&format!("{}\n\n", words::summary(timeline)));
    text.push_str(&sparklines(timeline, &style));
    // The first measure as a chart too: sparklines have no place in time.
    if let Some(chart) = charts::charts(timeline).first() {
        text.push_str(&format!("\n{}\n", text_chart(chart, talk.glyphs(), &style)));
    }
    text.push_str(&reports(timeline, &style));
    text.push_str(&correlated(timeline, &style));
    text
}

fn sparklines(timeline: &Timeline, style: &Style) -> String {
    let mut text = String::new();
    let room = style.columns().saturating_sub(SPARK_BESIDE).min(SPARK_MAX);
    for (i, measure) in MEASURES.iter().enumerate() {
        let values: Vec<f64> = timeline.points.iter().filter_map(|(point, _)| point.value(i)).collect();
        if values.len() > 1 {
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
            let spark = sparkline(&values, room);
            text.push_str(&format!("{:>21}  {spark}  {} – {}\n", measure.name, figure(low), figure(high)));
        }
    }
    text
}

fn reports(timeline: &Timeline, style: &Style) -> String {
    let active = timeline.points.iter().filter_map(|(point, _)| point.value(ACTIVE));
    let largest = active.fold(0.0, f64::max);
    let mut table = Table::new(vec![
        Column::text("begin"),
        Column::text("snapshots").spare(3),
        Column::figures("active", ""),
        Column::text("sessions").spare(2),
        Column::figures("CPU", "%"),
        Column::figures("unacc.", "%"),
        Column::figures("read", "/s"),
        Column::figures("write", "/s").spare(1),
        Column::figures("read", "ms"),
        Column::text("top event"),
    ]);
    for (at, (point, flags)) in timeline.points.iter().enumerate() {
        let value = |measure: usize| point.value(measure);
        let (begin, snaps) = words::place(point);
        let share = value(ACTIVE).filter(|_| largest > 0.0).map_or(0.0, |active| active / largest);
        table.row([
            begin.into(),
            snaps.into(),
            optional(value(ACTIVE)).into(),
            bar(share, BAR).into(),
            optional(value(CPU)).into(),
            optional(value(UNACCOUNTED)).into(),
            optional(value(READS)).into(),
            optional(value(WRITES)).into(),
            optional(value(READ_MS)).into(),
            point.top_event.as_deref().unwrap_or(ABSENT).into(),
        ]);
        for flag in flags {
            let paint = match flag {
                Flag::Anomaly(_) => Paint::Bad,
                Flag::Level(_) => Paint::Foreign,
                _ => Paint::Warn,
            };
            note(&mut table, &words::words(flag), "", paint, style);
            if let (Flag::Level(_), Some(causes)) = (flag, timeline.causes.get(&at)) {
                for (what, causes) in words::causes(causes, true) {
                    note(&mut table, &format!("{what}: {causes}"), "  ", Paint::Dim, style);
                }
            }
            if let Flag::Anomaly(anomaly) = flag {
                for (what, moved) in words::moved(anomaly, point, true) {
                    note(&mut table, &format!("{what}: {moved}"), "  ", Paint::Dim, style);
                }
            }
        }
    }
    let mut text = table.render(style);
    if timeline.points.iter().any(|(point, _)| point.value(UNACCOUNTED).is_some()) {
        let legend = "unacc.: DB time that is neither CPU nor waits; below 0 where waits were counted of calls whose time comes later";
        text.extend(
            wrap(legend, style.columns(), LINES_MAX)
                .iter()
                .map(|line| format!("{}\n", style.paint(Paint::Dim, line))),
        );
    }
    text
}

/// A sentence beneath the last row, in as many lines as it takes.
fn note(table: &mut Table, sentence: &str, indent: &str, paint: Paint, style: &Style) {
    // Notes stand two columns to the right, and what follows the first line two more.
    let room = style.columns().saturating_sub(4 + indent.len());
    for (i, line) in wrap(&clean(sentence), room, LINES_MAX).iter().enumerate() {
        let hang = if i > 0 { "  " } else { "" };
        table.note(&format!("{indent}{hang}{}", words::plain(line)), paint);
    }
}

fn correlated(timeline: &Timeline, style: &Style) -> String {
    let closest = words::closest(timeline, CLOSEST);
    if closest.is_empty() {
        return String::new();
    }
    let mut table = Table::new(vec![
        Column::text("goes with DB time"),
        Column::text("name"),
        Column::figures("of its rise", "%"),
        Column::figures("all reports", "ρ"),
        Column::figures("within levels", "ρ"),
    ]);
    for of in closest {
        let within = of.within.map_or_else(|| ABSENT.to_owned(), |within| words::rho(within.rho));
        table.row([
            of.thing.what.plural().into(),
            words::thing(&of.thing, true).into(),
            words::explained(of).into(),
            words::rho(of.over_all.rho).into(),
            within.into(),
        ]);
    }
    format!("\n{}", table.render(style))
}
