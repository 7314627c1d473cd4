//! Platforms side by side, as tables and as a plot of ratios.

use dyno_analyze::attribution;
use dyno_analyze::next_lines;
use dyno_analyze::number::{ABSENT, figure};
use dyno_analyze::price::{Costs, PricedPlatform, Prices};
use dyno_analyze::scorecard::{
    NOT_PRINTED, Scorecard, ScorecardFigure, ScorecardRatio, ScorecardRow, ScorecardValue, ScorecardVerdict,
};

use crate::chart::plot::{Plot, PlotLine, PlotRatio};
use crate::content::price::{costs_grid, over, price_grid};
use crate::model::document::{Picture, SheetPart, Sheets};
use crate::model::request::ReportRequest;
use crate::model::table::{Grid, GridCell, GridHead};

/// A line for each test: the figure of each platform, and its ratio to the first, where higher is better.
pub fn scorecard_grid(card: &Scorecard) -> Grid {
    let mut heads = vec![GridHead::tight("test")];
    for (at, name) in card.platforms.iter().enumerate() {
        heads.push(GridHead::figures(name, ""));
        if at > 0 {
            heads.push(
                GridHead::figures("", "×")
                    .explained("times better than the first platform; above 1 is better"),
            );
            heads.push(GridHead::tight("").explained("whether the difference exceeds the spread of repeats"));
        }
    }
    heads.push(GridHead::tight("unit"));
    let mut grid = Grid::new(heads);
    let mut group = "";
    for line in &card.lines {
        if line.group != group {
            group = &line.group;
            grid.row(vec![GridCell::text(group)]);
        }
        let mut cells = vec![GridCell::text(&line.test)];
        for (at, value) in line.values.iter().enumerate() {
            cells.push(match value {
                Ok(value) => GridCell::shown(value.value, |_| value.shown.clone()).marked(value.marked),
                Err(_) => GridCell::absent(),
            });
            if at > 0 {
                let ratio = line.ratios[at];
                cells.push(GridCell::figure(ratio.map(|ratio| ratio.times)));
                cells.push(verdict(ratio));
            }
        }
        cells.push(GridCell::text(&line.unit));
        grid.row(cells);
    }
    grid
}

fn shown(value: &Result<ScorecardValue, String>) -> String {
    value
        .as_ref()
        .map_or_else(|_| ABSENT.to_owned(), |value| attribution::mark(value.shown.clone(), value.marked))
}

fn verdict(ratio: Option<ScorecardRatio>) -> GridCell {
    let (word, tone) = match ratio.map(|ratio| ratio.verdict) {
        None => ("", ""),
        Some(ScorecardVerdict::Better) => ("better", "good"),
        Some(ScorecardVerdict::Worse) => ("worse", "bad"),
        Some(ScorecardVerdict::Unsure) => ("inconclusive", ""),
        Some(ScorecardVerdict::Few) => ("too few repeats", ""),
        Some(ScorecardVerdict::Single) => ("no repeats", ""),
    };
    GridCell::text(word).toned(tone)
}

/// Why figures are missing, one sentence each.
pub fn scorecard_gaps(card: &Scorecard) -> Vec<String> {
    let line_gaps = |line: &ScorecardRow| -> Vec<String> {
        let gap = |(at, value): (usize, &Result<ScorecardValue, String>)| {
            let why = value.as_ref().err().filter(|why| *why != NOT_PRINTED)?;
            Some(format!("{} on {}: {why}", line.test, card.platforms[at]))
        };
        let mut gaps: Vec<String> = line.values.iter().enumerate().filter_map(gap).collect();
        let is_apart =
            |at: &usize| line.ratios[*at].is_none() && line.values[0].is_ok() && line.values[*at].is_ok();
        gaps.extend((1..line.values.len()).filter(is_apart).map(|at| {
            format!(
                "{} on {}: its settings differ from those of {}",
                line.test, card.platforms[at], card.platforms[0]
            )
        }));
        gaps
    };
    card.lines.iter().flat_map(line_gaps).collect()
}

/// The ratios as a plot.
pub fn scorecard_plot(card: &Scorecard) -> Plot {
    let measure = figure_words(card);
    let row = |line: &ScorecardRow| PlotLine {
        label: line.test.clone(),
        group: line.group.clone(),
        marks: (1..card.platforms.len()).map(|at| mark(line, at, &card.platforms[at])).collect(),
    };
    let rows = card.lines.iter().filter(|line| line.ratios.iter().any(Option::is_some)).map(row).collect();
    Plot {
        title: format!("Times better than {}", card.platforms[0]),
        about: format!("{measure}; lines show the range that repeats allow; right of 1 is better"),
        axis: format!("times better than {}", card.platforms[0]),
        series: card.platforms[1..].to_vec(),
        rows,
    }
}

/// Two sheets for decision makers; `priced` contains the costs of the platforms, if stated.
pub fn scorecard_sheets(
    card: &Scorecard,
    request: &ReportRequest,
    priced: Option<(&Prices, &[PricedPlatform], &[Costs])>,
) -> Sheets {
    let plot = scorecard_plot(card);
    let mut facts = Vec::new();
    facts.extend(request.author.clone().map(|author| ("author", author)));
    facts.push(("report generated", request.made_at.get(..10).unwrap_or(&request.made_at).to_owned()));
    facts.push(("platforms", card.platforms.join("; ")));
    facts.push(("compared", figure_words(card).to_owned()));
    let price = match priced {
        None => vec!["Unknown: no prices were given (--prices).".to_owned()],
        Some((_, [], _)) => vec!["Unknown: the prices cover none of these platforms.".to_owned()],
        Some((prices, platforms, _)) => {
            let without = card.platforms.iter().filter(|name| !platforms.iter().any(|of| of.name == **name));
            let without: Vec<&str> = without.map(String::as_str).collect();
            let mut lines = vec![over(prices)];
            if !without.is_empty() {
                lines.push(format!("No price is known for {}.", without.join(", ")));
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
        lines: words.chain(&card.notes).cloned().chain(next_lines(&card.next)).collect(),
        picture: (!plot.is_empty()).then_some(Picture::Plot(plot)),
        parts: vec![
            SheetPart { title: "Comparison", grids: vec![scorecard_grid(card)], ..SheetPart::default() },
            SheetPart { title: "Price", lines: price, grids },
        ],
        missing: scorecard_gaps(card),
        ..Sheets::default()
    }
}

fn figure_words(card: &Scorecard) -> &'static str {
    match card.figure {
        ScorecardFigure::Most => "highest value of each test's key figure",
        ScorecardFigure::Optimum => "highest value within each test's latency limit",
        ScorecardFigure::Alone => "service time of a single session, mean",
    }
}

fn mark(line: &ScorecardRow, at: usize, name: &str) -> Option<PlotRatio> {
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
    Some(PlotRatio { times: ratio.times, range: ratio.range, hover })
}
