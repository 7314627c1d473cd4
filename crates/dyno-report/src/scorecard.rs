//! Platforms side by side: as tables, and as a plot of ratios.

use dyno_analyze::number::{ABSENT, figure};
use dyno_analyze::scorecard::{Figure, Line, NOT_PRINTED, Ratio, Scorecard, Value, Verdict};
use dyno_analyze::whose;

use crate::grid::{Cell, Grid, Head};
use crate::plot::{Plot, Row, Times};

/// A line for each test: the figure of each platform, and how many times better that is than the first.
pub fn scorecard_grid(card: &Scorecard) -> Grid {
    let mut heads = vec![Head::tight("test")];
    for (at, name) in card.platforms.iter().enumerate() {
        heads.push(Head::figures(name, ""));
        if at > 0 {
            heads.push(
                Head::figures("", "×").explained("times better than the first platform; above 1 is better"),
            );
            heads.push(Head::tight("").explained("whether that is more than repeats differ"));
        }
    }
    heads.push(Head::tight("unit"));
    let mut grid = Grid::new(heads);
    let mut group = "";
    for line in &card.lines {
        if line.group != group {
            group = &line.group;
            grid.row(vec![Cell::text(group)]);
        }
        let mut cells = vec![Cell::text(&line.test)];
        for (at, value) in line.values.iter().enumerate() {
            cells.push(Cell::text(&shown(value)));
            if at > 0 {
                let ratio = line.ratios[at];
                cells.push(Cell::text(&ratio.map_or_else(|| ABSENT.to_owned(), |ratio| figure(ratio.times))));
                cells.push(verdict(ratio));
            }
        }
        cells.push(Cell::text(&line.unit));
        grid.row(cells);
    }
    grid
}

fn shown(value: &Result<Value, String>) -> String {
    value.as_ref().map_or_else(|_| ABSENT.to_owned(), |value| whose::mark(value.shown.clone(), value.marked))
}

fn verdict(ratio: Option<Ratio>) -> Cell {
    let (word, tone) = match ratio.map(|ratio| ratio.verdict) {
        None => ("", ""),
        Some(Verdict::Better) => ("better", "good"),
        Some(Verdict::Worse) => ("worse", "bad"),
        Some(Verdict::Unsure) => ("unsure", ""),
        Some(Verdict::Few) => ("too few repeats", ""),
        Some(Verdict::Single) => ("no repeats", ""),
    };
    Cell { tone, ..Cell::text(word) }
}

/// Why figures are not there, a sentence each.
pub fn scorecard_gaps(card: &Scorecard) -> Vec<String> {
    let of = |line: &Line| -> Vec<String> {
        let gap = |(at, value): (usize, &Result<Value, String>)| {
            let why = value.as_ref().err().filter(|why| *why != NOT_PRINTED)?;
            Some(format!("{} on {}: {why}", line.test, card.platforms[at]))
        };
        let mut gaps: Vec<String> = line.values.iter().enumerate().filter_map(gap).collect();
        let is_apart =
            |at: &usize| line.ratios[*at].is_none() && line.values[0].is_ok() && line.values[*at].is_ok();
        gaps.extend((1..line.values.len()).filter(is_apart).map(|at| {
            format!(
                "{} on {}: it was not asked the same as {}",
                line.test, card.platforms[at], card.platforms[0]
            )
        }));
        gaps
    };
    card.lines.iter().flat_map(of).collect()
}

/// The ratios as a plot.
pub fn scorecard_plot(card: &Scorecard) -> Plot {
    let what = match card.figure {
        Figure::Most => "the most of each test's key figure",
        Figure::Optimum => "the most within each test's limit of latency",
        Figure::Alone => "service time of a single session, mean",
    };
    let row = |line: &Line| Row {
        label: line.test.clone(),
        group: line.group.clone(),
        marks: (1..card.platforms.len()).map(|at| mark(line, at, &card.platforms[at])).collect(),
    };
    let rows = card.lines.iter().filter(|line| line.ratios.iter().any(Option::is_some)).map(row).collect();
    Plot {
        title: format!("Times better than {}", card.platforms[0]),
        about: format!("{what}; lines are what repeats leave room for; right of 1 is better"),
        axis: format!("times better than {}", card.platforms[0]),
        series: card.platforms[1..].to_vec(),
        rows,
    }
}

fn mark(line: &Line, at: usize, name: &str) -> Option<Times> {
    let ratio = line.ratios[at]?;
    let range =
        ratio.range.map_or_else(String::new, |(low, high)| format!(" ({} to {})", figure(low), figure(high)));
    let hover = format!(
        "{}, {name}: {} × better{range}: {} against {} {}",
        line.test,
        figure(ratio.times),
        shown(&line.values[at]),
        shown(&line.values[0]),
        line.unit
    );
    Some(Times { times: ratio.times, range: ratio.range, hover })
}
