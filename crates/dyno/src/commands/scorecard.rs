//! `dyno scorecard`: platforms side by side.

use dyno_analyze::scorecard::{Figure, Platform, scorecard};
use dyno_campaign::{files, platforms};
use dyno_report::html::{Section, pages};
use dyno_report::table::Table;
use dyno_report::{scorecard_gaps, scorecard_grid, scorecard_plot};

use crate::cli::{Common, Scorecard};
use crate::context;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Scorecard, talk: &Talk) -> anyhow::Result<Exit> {
    let figure = Figure::from_name(&args.figure).ok_or_else(|| {
        usage(format!("--figure {}: there is no such figure", args.figure), "write most, optimum or alone")
    })?;
    let repository = context::repository_to_read(common)?;
    let all: Vec<Platform> = args
        .platforms
        .iter()
        .map(|selector| Ok(platforms::platform(&repository, selector, ENGINES.specs)?))
        .collect::<anyhow::Result<_>>()?;
    let card = scorecard(&all, figure);
    if card.lines.is_empty() {
        return Err(usage("none of the platforms has a figure", "`dyno show SUITE` says why of each test"));
    }
    let gaps = scorecard_gaps(&card);
    talk.json(&card)?;
    talk.show(&Table::from(&scorecard_grid(&card)).render(&talk.style()))?;
    for line in card.words.iter().chain(&card.notes) {
        talk.show(&format!("{line}\n"))?;
    }
    if !gaps.is_empty() {
        talk.say(&format!(
            "{} figures are missing or cannot be compared; the page (-o) says why of each",
            gaps.len()
        ));
    }
    if let Some(path) = &args.output {
        let plot = scorecard_plot(&card);
        let head = Section {
            title: "Platforms side by side".to_owned(),
            lines: card.words.clone(),
            plots: if plot.is_empty() { Vec::new() } else { vec![plot] },
            grids: vec![(String::new(), scorecard_grid(&card))],
            ..Section::default()
        };
        let notes =
            Section { title: "Platforms".to_owned(), lines: card.notes.clone(), ..Section::default() };
        let mut sections = vec![head, notes];
        if !gaps.is_empty() {
            sections.push(Section { title: "What is missing".to_owned(), lines: gaps, ..Section::default() });
        }
        let page = pages("Scorecard", &card.platforms.join(", "), &sections);
        files::replace(path, page.as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(Exit::Done)
}
