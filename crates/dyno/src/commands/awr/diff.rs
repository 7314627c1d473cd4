//! `dyno awr diff`: compares two reports.

use dyno_analyze::intervals::{IntervalComparison, LoadLine, SectionLine, compare_intervals};
use dyno_awr::AwrReport;
use dyno_awr::diff::{AwrDiff, EventChange, EventPresence, ReadingChange, ValueChange, diff};
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::number::ABSENT;
use dyno_report::style::{Paint, Style};
use dyno_report::text::clean;
use dyno_report::{Differences, LoadProfilePer, load_grid, sections_grid};
use serde_json::{Value, json};

use super::change::{LISTED, change_json as spelled_change, heads};
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
    let mut figures = Grid::new([GridHead::text("figure")].into_iter().chain(heads("", "", 1)).collect());
    // The load profile has its own table.
    let is_load = |figure: &&ReadingChange| figure.name.starts_with("load_profile_per_s.");
    for figure in difference.figures.iter().filter(|figure| !is_load(figure)) {
        figures.row([(&figure.name).into()].into_iter().chain(differences.row(figure, LISTED)));
    }
    let mut text = figures.render(&style);
    for per in [LoadProfilePer::Second, LoadProfilePer::Transaction] {
        let grid = load_grid(&between.load, *differences, &[per]);
        if !grid.rows.is_empty() {
            text.push('\n');
            text.push_str(&grid.render(&style));
        }
    }
    if !difference.events.is_empty() {
        let columns = [heads("s waited per s", "", 1), heads("mean", "ms", 1)].into_iter().flatten();
        let mut events = Grid::new([GridHead::text("event")].into_iter().chain(columns).collect());
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
        text.push_str(&sections_grid(&between.sections, *differences).render(&style));
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
    let mut table = Grid::new(vec![GridHead::text(head), GridHead::text("A"), GridHead::text("B")]);
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

fn event_row(event: &EventChange, differences: Differences) -> impl Iterator<Item = GridCell> {
    let mean = &event.mean_ms;
    let only = if event.presence.is_some() { ["gone", "new"] } else { LISTED };
    let tone = |cell: GridCell| if event.presence.is_some() { cell.toned("warn") } else { cell };
    let [a, b, by, percent] = differences.row(&event.load, only);
    let [mean_a, mean_b, mean_by, mean_percent] = differences.row(mean, only);
    // Values on one side only were already reported.
    let [mean_by, mean_percent] = match mean.a.is_some() && mean.b.is_some() {
        true => [mean_by, mean_percent],
        false => [GridCell::absent(), GridCell::absent()],
    };
    let waited = [(&event.name).into(), a, b, tone(by), tone(percent)];
    waited.into_iter().chain([mean_a, mean_b, mean_by, mean_percent])
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
