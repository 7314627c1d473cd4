//! `dyno prove window`: compares recorded figures with scripted ones, without a database.

use dyno_prove::ProofFigure;
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::number;
use serde_json::json;

use crate::cli::ProveWindow;
use crate::console::Console;
use crate::exit::Exit;

pub(super) fn run(args: &ProveWindow, talk: &Console) -> anyhow::Result<Exit> {
    talk.say("running about 30 short runs against a scripted database");
    let figures = dyno_prove::window().map_err(dyno_campaign::Error::from)?;
    let wrong = figures.iter().filter(|figure| !figure.proved()).count();
    talk.json(&as_json(&figures, wrong == 0))?;
    let style = talk.style();
    if !args.all {
        talk.show(&scenes(&figures).render(&style))?;
    }
    let listed: Vec<&ProofFigure> = figures.iter().filter(|figure| args.all || !figure.proved()).collect();
    if !listed.is_empty() {
        talk.show(&table(&listed).render(&style))?;
    }
    talk.show(&verdict(&figures, wrong))?;
    Ok(if wrong == 0 { Exit::Done } else { Exit::Invalid })
}

fn verdict(figures: &[ProofFigure], wrong: usize) -> String {
    let all = number::count(figures.len() as u64);
    match wrong {
        0 => format!("\nproved: {all} recorded figures equal the scripted ones exactly"),
        wrong => format!("\nnot proved: {} of {all} recorded figures differ", number::count(wrong as u64)),
    }
}

/// One line for each scenario, in order.
fn scenes(figures: &[ProofFigure]) -> Grid {
    let mut table = Grid::new(vec![
        GridHead::text("scenario"),
        GridHead::figures("operations", ""),
        GridHead::figures("figures", ""),
        GridHead::figures("equal", ""),
        GridHead::text("verdict"),
    ]);
    for chunk in figures.chunk_by(|a, b| a.scene == b.scene) {
        let operations = chunk.iter().find(|figure| figure.name == "all operations");
        let equal = chunk.iter().filter(|figure| figure.proved()).count();
        table.row([
            GridCell::from(chunk[0].scene.as_str()),
            GridCell::from(shown(operations.and_then(|figure| figure.scripted), "")),
            GridCell::from(number::count(chunk.len() as u64)),
            GridCell::from(number::count(equal as u64)),
            mark(equal == chunk.len()),
        ]);
    }
    table
}

fn table(figures: &[&ProofFigure]) -> Grid {
    let mut table = Grid::new(vec![
        GridHead::text("scenario"),
        GridHead::text("figure"),
        GridHead::figures("scripted", ""),
        GridHead::figures("recorded", ""),
        GridHead::text("unit").spare(1),
        GridHead::text("verdict"),
    ]);
    for figure in figures {
        table.row([
            GridCell::from(figure.scene.as_str()),
            GridCell::from(figure.name.as_str()),
            GridCell::from(shown(figure.scripted, figure.unit)),
            GridCell::from(shown(figure.recorded, figure.unit)),
            GridCell::from(figure.unit),
            mark(figure.proved()),
        ]);
    }
    table
}

fn mark(proved: bool) -> GridCell {
    match proved {
        true => GridCell::from("equal").toned("good"),
        false => GridCell::from("differs").toned("bad"),
    }
}

/// A count with thousands separators, a time in nanoseconds.
fn shown(value: Option<f64>, unit: &str) -> String {
    match value {
        Some(value) if unit.is_empty() => number::count(value as u64),
        Some(value) => number::fixed(value, 3),
        None => "none".to_owned(),
    }
}

fn as_json(figures: &[ProofFigure], proved: bool) -> serde_json::Value {
    let figures: Vec<_> = figures
        .iter()
        .map(|figure| {
            json!({
                "scene": figure.scene, "figure": figure.name, "unit": figure.unit,
                "scripted": figure.scripted, "recorded": figure.recorded, "proved": figure.proved(),
            })
        })
        .collect();
    json!({ "proof": "window", "proved": proved, "figures": figures })
}
