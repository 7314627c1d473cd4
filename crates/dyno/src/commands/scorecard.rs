//! `dyno scorecard`: compares platforms side by side.

use dyno_analyze::next_lines;
use dyno_analyze::price::{PlatformPrice, costs};
use dyno_analyze::scorecard::{ScorecardFigure, ScorecardPlatform, scorecard};
use dyno_campaign::{files, platforms};
use dyno_report::html::pages_with_sheets;
use dyno_report::model::PageSection;
use dyno_report::{
    ReportRequest, costs_grid, next_text, price_grid, scorecard_gaps, scorecard_grid, scorecard_plot,
    scorecard_sheets,
};

use super::price;
use crate::cli::{CommonArgs, ScorecardArgs};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &ScorecardArgs, talk: &Console) -> anyhow::Result<Exit> {
    let figure = ScorecardFigure::from_name(&args.figure).ok_or_else(|| {
        usage(format!("--figure {}: there is no such figure", args.figure), "write most, optimum or alone")
    })?;
    let repository = context::repository_to_read(common)?;
    let all: Vec<ScorecardPlatform> = args
        .platforms
        .iter()
        .map(|selector| Ok(platforms::platform(&repository, selector, ENGINES.specs)?))
        .collect::<anyhow::Result<_>>()?;
    // Read before the page is made, so that an error in it is reported at once.
    let prices = args.prices.as_deref().map(price::read).transpose()?;
    let card = scorecard(&all, figure);
    if card.lines.is_empty() {
        return Err(usage(
            "none of the platforms has a figure",
            "`dyno show SUITE` shows the reason for each test",
        ));
    }
    let gaps = scorecard_gaps(&card);
    talk.json(&card)?;
    talk.show(&scorecard_grid(&card).render(&talk.style()))?;
    for line in card.words.iter().chain(&card.notes) {
        talk.show(&format!("{line}\n"))?;
    }
    talk.show(&next_text(&card.next, &talk.style()))?;
    if !gaps.is_empty() {
        let words = match gaps.len() {
            1 => "1 figure is".to_owned(),
            more => format!("{more} figures are"),
        };
        talk.say(&format!("{words} missing or cannot be compared; the page (-o) shows the reasons"));
    }
    if let Some(path) = &args.output {
        let plot = scorecard_plot(&card);
        let head = PageSection {
            title: "Platforms side by side".to_owned(),
            lines: card.words.iter().cloned().chain(next_lines(&card.next)).collect(),
            plots: if plot.is_empty() { Vec::new() } else { vec![plot] },
            grids: vec![(String::new(), scorecard_grid(&card))],
            ..PageSection::default()
        };
        let notes = PageSection {
            title: "Platforms".to_owned(),
            lines: card.notes.clone(),
            ..PageSection::default()
        };
        let mut sections = vec![head, notes];
        if !gaps.is_empty() {
            sections.push(PageSection {
                title: "Missing figures".to_owned(),
                lines: gaps,
                ..PageSection::default()
            });
        }
        let request = ReportRequest {
            made_at: dyno_record::now_rfc3339(),
            author: args.author.clone(),
            title: args.title.clone(),
            ..ReportRequest::default()
        };
        let priced = prices.as_ref().map(|prices| {
            let with_price = |(platform, selector): (&ScorecardPlatform, &String)| {
                let selector = selector.split_once('=').map_or(selector.as_str(), |(_, selector)| selector);
                Some((platform.clone(), prices.of(&[&platform.name, selector])?.clone()))
            };
            let priced_platforms: Vec<(ScorecardPlatform, PlatformPrice)> =
                all.iter().zip(&args.platforms).filter_map(with_price).collect();
            (prices, costs(prices, &priced_platforms))
        });
        let priced =
            priced.as_ref().map(|(prices, (platforms, costs))| (*prices, &platforms[..], &costs[..]));
        let sheets = scorecard_sheets(&card, &request, priced);
        if let Some((prices, platforms, costs)) = priced.filter(|(_, platforms, _)| !platforms.is_empty()) {
            let grids = [
                ("Platforms", price_grid(platforms, &prices.currency)),
                ("Performance", costs_grid(platforms, costs, &prices.currency)),
            ];
            sections.push(PageSection {
                title: format!(
                    "What performance costs, {} a month over {} months",
                    prices.currency, prices.months
                ),
                grids: grids.map(|(title, grid)| (title.to_owned(), grid)).into(),
                ..PageSection::default()
            });
        }
        let title = args.title.as_deref().unwrap_or("Scorecard");
        let page = pages_with_sheets(title, &card.platforms.join(", "), &sheets, &sections);
        files::replace(path, page.as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(Exit::Done)
}
