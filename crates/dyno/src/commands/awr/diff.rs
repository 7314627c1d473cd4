//! `dyno awr diff`: compares two reports.

use dyno_analyze::intervals::{IntervalComparison, LoadLine, SectionLine, compare_intervals};
use dyno_awr::AwrReport;
use dyno_awr::diff::{AwrDiff, EventChange, EventPresence, ReadingChange, ValueChange, diff};
use dyno_report::number::ABSENT;
use dyno_report::style::{Paint, Style};
use dyno_report::table::{TextCell, TextColumn, TextTable};
use dyno_report::text::clean;
use dyno_report::{Differences, LoadProfilePer, load_grid, sections_grid};
use serde_json::{Value, json};

use super::change::{LISTED, change_cells, change_json as spelled_change, reading_text};
use super::import::{self, AwrImportMarks};
use super::{diff_tops, files};
use crate::cli::{Diff, MarkArgs};
use crate::console::Console;
use crate::exit::{Exit, usage};

pub(super) fn run(args: &Diff, talk: &Console) -> anyhow::Result<Exit> {
    let wanted = files::input_files(&[args.a.clone(), args.b.clone()])?;
    let (reports, outcome) = files::collect(&wanted, talk, |report| report)?;
    let [a, b] = &reports[..] else {
        let problem = format!("{} reports were read, but a comparison needs two", reports.len());
        return Err(usage(problem, "name two files with one report each"));
    };
    let marked = AwrImportMarks { marks: &MarkArgs::default(), ramp: false };
    let records = [import::record(a, &marked)?, import::record(b, &marked)?];
    let between = compare_intervals(&records[0], &records[1]).unwrap_or_default();
    let differences = Differences::of(&between, args.anyway);
    for apart in &between.mismatches {
        talk.say(&format!("warning: {}", apart.words()));
    }
    if !between.is_comparable() && !args.anyway {
        talk.say(
            "hint: differences are not shown, because they are not a change of one database; --anyway shows \
                them",
        );
    }
    let held = ReportComparison { difference: diff(a, b), between, differences };
    talk.json(&diff_json(a, b, &held, args.object_names))?;
    talk.show(&tables(&held, talk))?;
    Ok(outcome.exit())
}

/// Comparison of the two reports.
struct ReportComparison {
    difference: AwrDiff,
    between: IntervalComparison,
    differences: Differences,
}

fn tables(held: &ReportComparison, talk: &Console) -> String {
    let ReportComparison { difference, between, differences } = held;
    let style = talk.style();
    let mut figures = TextTable::new(vec![
        TextColumn::text("figure"),
        TextColumn::figures("A", ""),
        TextColumn::figures("B", ""),
        TextColumn::figures("B − A", "").spare(1),
        TextColumn::figures("B against A", "%"),
    ]);
    // The load profile has its own table.
    let is_load = |figure: &&ReadingChange| figure.name.starts_with("load_profile_per_s.");
    for figure in difference.figures.iter().filter(|figure| !is_load(figure)) {
        let [by, percent] = change_cells(figure, *differences, LISTED);
        figures.row([
            figure.name.as_str().into(),
            reading_text(figure.a).into(),
            reading_text(figure.b).into(),
            by,
            percent,
        ]);
    }
    let mut text = figures.render(&style);
    for per in [LoadProfilePer::Second, LoadProfilePer::Transaction] {
        let grid = load_grid(&between.load, *differences, &[per]);
        if !grid.rows.is_empty() {
            text.push('\n');
            text.push_str(&TextTable::from(&grid).render(&style));
        }
    }
    if !difference.events.is_empty() {
        let mut events = TextTable::new(vec![
            TextColumn::text("event"),
            TextColumn::figures("A", "").grouped_under("s waited per s"),
            TextColumn::figures("B", "").grouped_under("s waited per s"),
            TextColumn::figures("B − A", "").grouped_under("s waited per s").spare(1),
            TextColumn::figures("B against A", "%").grouped_under("s waited per s"),
            TextColumn::figures("A", "ms").grouped_under("mean"),
            TextColumn::figures("B", "ms").grouped_under("mean"),
            TextColumn::figures("B − A", "ms").grouped_under("mean").spare(1),
            TextColumn::figures("B against A", "%").grouped_under("mean"),
        ]);
        for event in &difference.events {
            events.row(event_row(event, *differences));
        }
        text.push('\n');
        text.push_str(&events.render(&style));
    }
    for table in diff_tops::tables(difference, *differences, &style) {
        text.push('\n');
        text.push_str(&table);
    }
    if !between.sections.is_empty() {
        text.push('\n');
        text.push_str(&TextTable::from(&sections_grid(&between.sections, *differences)).render(&style));
    }
    for (head, switches) in [("parameter", &difference.parameters), ("plans of statement", &difference.plans)]
    {
        if switches.is_empty() {
            continue;
        }
        text.push('\n');
        text.push_str(&switched(head, switches, &style));
    }
    text
}

/// Values side by side, or one below the other if a table would truncate the differing part.
fn switched(head: &str, switches: &[ValueChange], style: &Style) -> String {
    let mut table =
        TextTable::new(vec![TextColumn::text(head), TextColumn::text("A"), TextColumn::text("B")]);
    let value = |value: &Option<String>| value.as_deref().map_or_else(|| ABSENT.to_owned(), clean);
    for switch in switches {
        table.row([switch.name.as_str().into(), value(&switch.a).into(), value(&switch.b).into()]);
    }
    if table.fits(style) {
        return table.render(style);
    }
    let mut text = format!("{}\n", style.paint(Paint::Head, head));
    for switch in switches {
        let [a, b] = [&switch.a, &switch.b].map(value);
        text.push_str(&format!("{}\n  A  {a}\n  B  {b}\n", clean(&switch.name)));
    }
    text
}

fn event_row(event: &EventChange, differences: Differences) -> [TextCell; 9] {
    let (load, mean) = (&event.load, &event.mean_ms);
    let only = if event.presence.is_some() { ["gone", "new"] } else { LISTED };
    let [by, percent] = change_cells(load, differences, only).map(|cell| match event.presence {
        Some(_) => cell.in_paint(Paint::Warn),
        None => cell,
    });
    // Values on one side only were already reported.
    let [mean_by, mean_percent] = match mean.a.is_some() && mean.b.is_some() {
        true => change_cells(mean, differences, only),
        false => [ABSENT, ABSENT].map(TextCell::from),
    };
    [
        event.name.as_str().into(),
        reading_text(load.a).into(),
        reading_text(load.b).into(),
        by,
        percent,
        reading_text(mean.a).into(),
        reading_text(mean.b).into(),
        mean_by,
        mean_percent,
    ]
}

fn diff_json(a: &AwrReport, b: &AwrReport, held: &ReportComparison, names: bool) -> Value {
    let ReportComparison { difference, between, differences } = held;
    let named = |of: &ReadingChange| {
        let mut value = spelled_change(of, *differences);
        value["name"] = of.name.as_str().into();
        value
    };
    let event = |of: &EventChange| {
        json!({
            "event": of.name,
            "waited_per_s": named(&of.load),
            "mean_ms": named(&of.mean_ms),
            "became": of.presence.map(|became| if became == EventPresence::New { "new" } else { "gone" }),
        })
    };
    let load = |of: &LoadLine| {
        let [per_s, per_txn] = [&of.per_s, &of.per_txn].map(|of| spelled_change(of, *differences));
        json!({ "name": of.name, "per_s": per_s, "per_txn": per_txn })
    };
    let section = |of: &SectionLine| {
        let mut value = spelled_change(&of.change, *differences);
        value["section"] = of.section.as_str().into();
        value["row"] = of.row.as_str().into();
        value["figure"] = of.figure.as_str().into();
        value["per_s"] = of.per_s.into();
        value
    };
    let switch = |of: &ValueChange| json!({ "name": of.name, "a": of.a, "b": of.b });
    json!({
        "a": a.file,
        "b": b.file,
        "comparable": between.is_comparable(),
        "cautions": between.mismatches.iter().map(|apart| apart.words()).collect::<Value>(),
        "figures": difference.figures.iter().map(named).collect::<Value>(),
        "load_profile": between.load.iter().map(load).collect::<Value>(),
        "events": difference.events.iter().map(event).collect::<Value>(),
        "statements": difference.statements.iter().map(|of| diff_tops::statement_json(of, *differences)).collect::<Value>(),
        "segments": difference.segments.iter().map(|of| diff_tops::segment_json(of, *differences, names)).collect::<Value>(),
        "sections": between.sections.iter().map(section).collect::<Value>(),
        "parameters": difference.parameters.iter().map(switch).collect::<Value>(),
        "plans": difference.plans.iter().map(switch).collect::<Value>(),
    })
}
