//! `dyno awr diff`: two reports side by side.

use dyno_awr::diff::{Became, Change, Difference, EventChange, Switch, diff};
use dyno_awr::{AwrReport, Reading};
use dyno_report::number::ABSENT;
use dyno_report::style::{Paint, Style};
use dyno_report::table::{Cell, Column, Table};
use dyno_report::text::clean;
use serde_json::{Value, json};

use super::change::{change, side};
use super::{diff_tops, files};
use crate::cli::Diff;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(args: &Diff, talk: &Talk) -> anyhow::Result<Exit> {
    let wanted = files::wanted(&[args.a.clone(), args.b.clone()])?;
    let (reports, outcome) = files::collect(&wanted, talk, |report| report)?;
    let [a, b] = &reports[..] else {
        let problem = format!("{} reports were read, and two are compared", reports.len());
        return Err(usage(problem, "name two files with one report each"));
    };
    let difference = diff(a, b);
    for caution in &difference.cautions {
        talk.say(&format!("warning: {caution}"));
    }
    talk.json(&spelled(a, b, &difference, args.object_names))?;
    talk.show(&tables(&difference, talk))?;
    Ok(outcome.exit())
}

fn tables(difference: &Difference, talk: &Talk) -> String {
    let style = talk.style();
    let columns = |head: &str| {
        vec![
            Column::text(head),
            Column::figures("A", ""),
            Column::figures("B", ""),
            Column::figures("B against A", "%"),
        ]
    };
    let mut figures = Table::new(columns("figure"));
    for figure in &difference.figures {
        figures.row([
            figure.name.as_str().into(),
            side(figure.a).into(),
            side(figure.b).into(),
            change(figure),
        ]);
    }
    let mut text = figures.render(&style);
    if !difference.events.is_empty() {
        let mut events = Table::new(vec![
            Column::text("event"),
            Column::figures("A", "").under("s waited per s"),
            Column::figures("B", "").under("s waited per s"),
            Column::figures("B against A", "%").under("s waited per s"),
            Column::figures("A", "ms").under("mean"),
            Column::figures("B", "ms").under("mean"),
            Column::figures("B against A", "%").under("mean"),
        ]);
        for event in &difference.events {
            events.row(event_row(event));
        }
        text.push('\n');
        text.push_str(&events.render(&style));
    }
    for table in diff_tops::tables(difference, &style) {
        text.push('\n');
        text.push_str(&table);
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

fn event_row(event: &EventChange) -> [Cell; 7] {
    let (load, mean) = (&event.load, &event.mean_ms);
    let became = |of: &Change| match event.became {
        Some(Became::New) => Cell::painted("new", Paint::Warn),
        Some(Became::Gone) => Cell::painted("gone", Paint::Warn),
        None => change(of),
    };
    [
        event.name.as_str().into(),
        side(load.a).into(),
        side(load.b).into(),
        became(load),
        side(mean.a).into(),
        side(mean.b).into(),
        if mean.a.is_some() && mean.b.is_some() { change(mean) } else { ABSENT.into() },
    ]
}

fn spelled(a: &AwrReport, b: &AwrReport, difference: &Difference, names: bool) -> Value {
    let change = |of: &Change| {
        let value = |side: Option<Reading>| side.map(|reading| reading.value);
        json!({ "name": of.name, "a": value(of.a), "b": value(of.b), "change_pct": of.percent() })
    };
    let event = |of: &EventChange| {
        json!({
            "event": of.name,
            "waited_per_s": change(&of.load),
            "mean_ms": change(&of.mean_ms),
            "became": of.became.map(|became| if became == Became::New { "new" } else { "gone" }),
        })
    };
    let switch = |of: &Switch| json!({ "name": of.name, "a": of.a, "b": of.b });
    json!({
        "a": a.file,
        "b": b.file,
        "cautions": difference.cautions,
        "figures": difference.figures.iter().map(change).collect::<Value>(),
        "events": difference.events.iter().map(event).collect::<Value>(),
        "statements": difference.statements.iter().map(diff_tops::statement).collect::<Value>(),
        "segments": difference.segments.iter().map(|of| diff_tops::segment(of, names)).collect::<Value>(),
        "parameters": difference.parameters.iter().map(switch).collect::<Value>(),
        "plans": difference.plans.iter().map(switch).collect::<Value>(),
    })
}
