//! `dyno awr diff`: two reports side by side.

use dyno_analyze::intervals::{Between, LoadLine, SectionLine, between};
use dyno_awr::AwrReport;
use dyno_awr::diff::{Became, Change, Difference, EventChange, Switch, diff};
use dyno_report::number::ABSENT;
use dyno_report::style::{Paint, Style};
use dyno_report::table::{Cell, Column, Table};
use dyno_report::text::clean;
use dyno_report::{Differences, Per, load_grid, sections_grid};
use serde_json::{Value, json};

use super::change::{LISTED, change, side, spelled as spelled_change};
use super::import::{self, Marked};
use super::{diff_tops, files};
use crate::cli::{Diff, Marks};
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(args: &Diff, talk: &Talk) -> anyhow::Result<Exit> {
    let wanted = files::wanted(&[args.a.clone(), args.b.clone()])?;
    let (reports, outcome) = files::collect(&wanted, talk, |report| report)?;
    let [a, b] = &reports[..] else {
        let problem = format!("{} reports were read, and two are compared", reports.len());
        return Err(usage(problem, "name two files with one report each"));
    };
    let marked = Marked { marks: &Marks::default(), ramp: false };
    let records = [import::record(a, &marked)?, import::record(b, &marked)?];
    let between = between(&records[0], &records[1]).unwrap_or_default();
    let differences = Differences::of(&between, args.anyway);
    for apart in &between.apart {
        talk.say(&format!("warning: {}", apart.words()));
    }
    if !between.is_comparable() && !args.anyway {
        talk.say(
            "hint: differences are not shown, since they are no change of one database; --anyway shows them",
        );
    }
    let held = Held { difference: diff(a, b), between, differences };
    talk.json(&spelled(a, b, &held, args.object_names))?;
    talk.show(&tables(&held, talk))?;
    Ok(outcome.exit())
}

/// The two held against each other.
struct Held {
    difference: Difference,
    between: Between,
    differences: Differences,
}

fn tables(held: &Held, talk: &Talk) -> String {
    let Held { difference, between, differences } = held;
    let style = talk.style();
    let mut figures = Table::new(vec![
        Column::text("figure"),
        Column::figures("A", ""),
        Column::figures("B", ""),
        Column::figures("B − A", "").spare(1),
        Column::figures("B against A", "%"),
    ]);
    // The load profile has a table of its own.
    let is_load = |figure: &&Change| figure.name.starts_with("load_profile_per_s.");
    for figure in difference.figures.iter().filter(|figure| !is_load(figure)) {
        let [by, percent] = change(figure, *differences, LISTED);
        figures.row([figure.name.as_str().into(), side(figure.a).into(), side(figure.b).into(), by, percent]);
    }
    let mut text = figures.render(&style);
    for per in [Per::Second, Per::Transaction] {
        let grid = load_grid(&between.load, *differences, &[per]);
        if !grid.rows.is_empty() {
            text.push('\n');
            text.push_str(&Table::from(&grid).render(&style));
        }
    }
    if !difference.events.is_empty() {
        let mut events = Table::new(vec![
            Column::text("event"),
            Column::figures("A", "").under("s waited per s"),
            Column::figures("B", "").under("s waited per s"),
            Column::figures("B − A", "").under("s waited per s").spare(1),
            Column::figures("B against A", "%").under("s waited per s"),
            Column::figures("A", "ms").under("mean"),
            Column::figures("B", "ms").under("mean"),
            Column::figures("B − A", "ms").under("mean").spare(1),
            Column::figures("B against A", "%").under("mean"),
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
        text.push_str(&Table::from(&sections_grid(&between.sections, *differences)).render(&style));
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

/// Values side by side, or under each other where a table would have to cut what differs.
fn switched(head: &str, switches: &[Switch], style: &Style) -> String {
    let mut table = Table::new(vec![Column::text(head), Column::text("A"), Column::text("B")]);
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

fn event_row(event: &EventChange, differences: Differences) -> [Cell; 9] {
    let (load, mean) = (&event.load, &event.mean_ms);
    let only = if event.became.is_some() { ["gone", "new"] } else { LISTED };
    let [by, percent] = change(load, differences, only).map(|cell| match event.became {
        Some(_) => cell.in_paint(Paint::Warn),
        None => cell,
    });
    // What is on one side only was told already.
    let [mean_by, mean_percent] = match mean.a.is_some() && mean.b.is_some() {
        true => change(mean, differences, only),
        false => [ABSENT, ABSENT].map(Cell::from),
    };
    [
        event.name.as_str().into(),
        side(load.a).into(),
        side(load.b).into(),
        by,
        percent,
        side(mean.a).into(),
        side(mean.b).into(),
        mean_by,
        mean_percent,
    ]
}

fn spelled(a: &AwrReport, b: &AwrReport, held: &Held, names: bool) -> Value {
    let Held { difference, between, differences } = held;
    let named = |of: &Change| {
        let mut value = spelled_change(of, *differences);
        value["name"] = of.name.as_str().into();
        value
    };
    let event = |of: &EventChange| {
        json!({
            "event": of.name,
            "waited_per_s": named(&of.load),
            "mean_ms": named(&of.mean_ms),
            "became": of.became.map(|became| if became == Became::New { "new" } else { "gone" }),
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
    let switch = |of: &Switch| json!({ "name": of.name, "a": of.a, "b": of.b });
    json!({
        "a": a.file,
        "b": b.file,
        "comparable": between.is_comparable(),
        "cautions": between.apart.iter().map(|apart| apart.words()).collect::<Value>(),
        "figures": difference.figures.iter().map(named).collect::<Value>(),
        "load_profile": between.load.iter().map(load).collect::<Value>(),
        "events": difference.events.iter().map(event).collect::<Value>(),
        "statements": difference.statements.iter().map(|of| diff_tops::statement(of, *differences)).collect::<Value>(),
        "segments": difference.segments.iter().map(|of| diff_tops::segment(of, *differences, names)).collect::<Value>(),
        "sections": between.sections.iter().map(section).collect::<Value>(),
        "parameters": difference.parameters.iter().map(switch).collect::<Value>(),
        "plans": difference.plans.iter().map(switch).collect::<Value>(),
    })
}
