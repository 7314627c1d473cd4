//! Platforms side by side: as tables, and as a plot of ratios.

use dyno_analyze::number::{ABSENT, figure};
use dyno_analyze::price::{Costs, Priced, Prices};
use dyno_analyze::scorecard::{Figure, Line, NOT_PRINTED, Ratio, Scorecard, Value, Verdict};
use dyno_analyze::whose;

use crate::grid::{Cell, Grid, Head};
use crate::html::{Part, Picture, Sheets};
use crate::plot::{Plot, Row, Times};
use crate::price::{costs_grid, over, price_grid};
use crate::request::Request;

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
    let what = what(card);
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

/// Two sheets for who has to decide; `priced` is what the platforms cost where somebody says.
pub fn scorecard_sheets(
    card: &Scorecard,
    request: &Request,
    priced: Option<(&Prices, &[Priced], &[Costs])>,
) -> Sheets {
    let plot = scorecard_plot(card);
    let mut facts = Vec::new();
    facts.extend(request.author.clone().map(|author| ("author", author)));
    facts.push(("report made", request.made_at.get(..10).unwrap_or(&request.made_at).to_owned()));
    facts.push(("platforms", card.platforms.join("; ")));
    facts.push(("compared", what(card).to_owned()));
    let price = match priced {
        None => vec!["Not known: no prices were given (--prices).".to_owned()],
        Some((_, [], _)) => vec!["Not known: no price is of these platforms.".to_owned()],
        Some((prices, platforms, _)) => {
            let without = card.platforms.iter().filter(|name| !platforms.iter().any(|of| of.name == **name));
            let without: Vec<&str> = without.map(String::as_str).collect();
            let mut lines = vec![over(prices)];
            if !without.is_empty() {
                lines.push(format!("No price is known of {}.", without.join(", ")));
            }
            lines
        }
    };
    let grids = match priced {
        Some((prices, platforms, costs)) if !platforms.is_empty() => {
            vec![price_grid(platforms, &prices.currency), costs_grid(platforms, costs, &prices.currency)]
        }
        _ => Vec::new(),
    };
    let mut words = card.words.iter();
    Sheets {
        title: request.title.clone().unwrap_or_else(|| format!("Platforms: {}", card.platforms.join(", "))),
        facts,
        line: words.next().cloned().unwrap_or_else(|| "nothing can be compared".to_owned()),
        lines: words.chain(&card.notes).cloned().collect(),
        picture: (!plot.is_empty()).then_some(Picture::Plot(plot)),
        parts: vec![
            Part { title: "Comparison", grids: vec![scorecard_grid(card)], ..Part::default() },
            Part { title: "Price", lines: price, grids },
        ],
        missing: scorecard_gaps(card),
        ..Sheets::default()
    }
}

fn what(card: &Scorecard) -> &'static str {
    match card.figure {
        Figure::Most => "the most of each test's key figure",
        Figure::Optimum => "the most within each test's limit of latency",
        Figure::Alone => "service time of a single session, mean",
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
