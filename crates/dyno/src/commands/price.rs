//! `dyno price`: computes price/performance of each platform.

use std::path::Path;

use dyno_analyze::next_lines;
use dyno_analyze::price::{PlatformPrice, Prices, costs, next_steps};
use dyno_analyze::scorecard::ScorecardPlatform;
use dyno_campaign::{files, platforms};
use dyno_plan::{LocatedToml, PlanErrorKind, PlanErrors, PlanFile};
use dyno_report::html::pages;
use dyno_report::model::PageSection;
use dyno_report::{costs_grid, next_text, price_grid, price_plot};
use serde_json::json;

use crate::cli::{CommonArgs, PriceArgs as Args};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::Exit;

/// The example that `--init` writes.
const EXAMPLE: &str = "\
# Prices of platforms for `dyno price`.
currency = \"EUR\"
months = 48                        # how long purchased equipment is used

[[platform]]
name = \"old\"                       # other platforms are compared with the first
suite = \"variant:old-array\"        # its suites: a name, last, variant:NAME, or a platform from a document
purchase = 120_000                 # bought once: servers, storage, network
per_month = 1_500                  # rent, space, support, people
cores = 16                         # licensed processors
licence_per_core = 0               # bought once
licence_per_core_per_month = 0
watts = 1_800                      # on average
kwh = 0.25                         # a kilowatt-hour, cooling included

[[platform]]
name = \"new\"
suite = \"variant:new\"
per_month = 6_200
";

pub(super) fn run(common: &CommonArgs, args: &Args, talk: &Console) -> anyhow::Result<Exit> {
    if args.init {
        super::new_file::write_new(&args.prices, EXAMPLE, args.force, "PRICES")?;
        talk.say(&format!("wrote {}: an example to edit", args.prices.display()));
        return Ok(Exit::Done);
    }
    let prices = read(&args.prices)?;
    let repository = context::repository_to_read(common)?;
    let platform = |price: &PlatformPrice| -> anyhow::Result<(ScorecardPlatform, PlatformPrice)> {
        let selector = if price.suite.is_empty() { &price.name } else { &price.suite };
        let selector = format!("{}={selector}", price.name);
        Ok((platforms::platform(&repository, &selector, ENGINES.specs)?, price.clone()))
    };
    let all: Vec<(ScorecardPlatform, PlatformPrice)> =
        prices.platform.iter().map(platform).collect::<anyhow::Result<_>>()?;
    let (priced, costs) = costs(&prices, &all);
    let next = next_steps(&all, &costs);
    let notes: Vec<String> = all
        .iter()
        .flat_map(|(platform, _)| platform.notes.iter().map(|note| format!("{}: {note}", platform.name)))
        .collect();
    talk.json(&json!({
        "currency": prices.currency, "months": prices.months, "platforms": priced, "costs": costs, "notes": notes,
        "next": next,
    }))?;
    let grids = [price_grid(&priced, &prices.currency), costs_grid(&priced, &costs, &prices.currency)];
    for grid in &grids {
        talk.show(&grid.render(&talk.style()))?;
    }
    for note in &notes {
        talk.show(&format!("{note}\n"))?;
    }
    talk.show(&next_text(&next, &talk.style()))?;
    if let Some(path) = &args.output {
        let plot = price_plot(&priced, &costs);
        let [platforms, performance] = grids;
        let section = PageSection {
            title: format!(
                "What performance costs, {} a month over {} months",
                prices.currency, prices.months
            ),
            lines: notes.into_iter().chain(next_lines(&next)).collect(),
            plots: if plot.is_empty() { Vec::new() } else { vec![plot] },
            grids: vec![("Platforms".to_owned(), platforms), ("Performance".to_owned(), performance)],
            ..PageSection::default()
        };
        files::replace(path, pages("Price", &args.prices.display().to_string(), &[section]).as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(Exit::Done)
}

/// How the file is written.
const HINT: &str = "`dyno price --init` writes an example";

/// Reads the prices of the file.
pub(super) fn read(path: &Path) -> Result<Prices, PlanErrors> {
    let file = PlanFile::open_input(path, "file of prices", HINT)?;
    let toml = LocatedToml::parse(&file.name, &file.text, HINT)?;
    let prices: Prices = toml.read()?;
    match prices.fault() {
        Some(fault) => {
            let index = fault.platform.map(|index| index.to_string());
            let path: Vec<&str> = match &index {
                Some(index) => vec!["platform", index, fault.key],
                None => vec![fault.key],
            };
            Err(toml.error_at(toml.place(&path), PlanErrorKind::Range, fault.problem, "").into())
        }
        None => Ok(prices),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_errors_have_a_place_and_a_hint() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("prices.toml");
        let top = "currency = \"EUR\"\nmonths = 48\n[[platform]]\nname = \"a\"\n";
        for (text, place) in [
            ("months = 48\nplatform = []\n".to_owned(), "1:1: currency: missing; `dyno price --init`"),
            (top.replace("48", "\"48\""), "2:10: months: not a number; `dyno price --init`"),
            (format!("{top}cors = 3\n"), "5:1: platform.cors: unknown key; did you mean cores?"),
            (format!("{top}watts = -3\n"), "5:9: platform a: watts = -3: write an amount of 0 or more"),
            (top.to_owned(), "3:1: platform a: purchase: the platform costs nothing"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}:{place}", path.display())), "{error}");
        }
        std::fs::write(&path, EXAMPLE).unwrap();
        assert_eq!(read(&path).unwrap().platform.len(), 2);
    }
}
