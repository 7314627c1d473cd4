//! `dyno price`: computes price/performance of each platform.

use std::path::Path;

use dyno_analyze::price::{PlatformPrice, Prices, costs};
use dyno_analyze::scorecard::ScorecardPlatform;
use dyno_campaign::{files, platforms};
use dyno_report::html::{PageSection, pages};
use dyno_report::table::TextTable;
use dyno_report::{costs_grid, price_grid, price_plot};
use serde_json::json;

use crate::cli::{CommonArgs, PriceArgs as Args};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};

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
    let notes: Vec<String> = all
        .iter()
        .flat_map(|(platform, _)| platform.notes.iter().map(|note| format!("{}: {note}", platform.name)))
        .collect();
    talk.json(&json!({
        "currency": prices.currency, "months": prices.months, "platforms": priced, "costs": costs, "notes": notes,
    }))?;
    let grids = [price_grid(&priced, &prices.currency), costs_grid(&priced, &costs, &prices.currency)];
    for grid in &grids {
        talk.show(&TextTable::from(grid).render(&talk.style()))?;
    }
    for note in &notes {
        talk.show(&format!("{note}\n"))?;
    }
    if let Some(path) = &args.output {
        let plot = price_plot(&priced, &costs);
        let [platforms, performance] = grids;
        let section = PageSection {
            title: format!(
                "What performance costs, {} a month over {} months",
                prices.currency, prices.months
            ),
            lines: notes,
            plots: if plot.is_empty() { Vec::new() } else { vec![plot] },
            grids: vec![("Platforms".to_owned(), platforms), ("Performance".to_owned(), performance)],
            ..PageSection::default()
        };
        files::replace(path, pages("Price", &args.prices.display().to_string(), &[section]).as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(Exit::Done)
}

/// Parses the prices of the file; each error states its position.
pub(super) fn read(path: &Path) -> anyhow::Result<Prices> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        usage(format!("{shown} cannot be read: {error}"), "`dyno price --init` writes an example")
    })?;
    let prices: Prices = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        usage(format!("{shown}:{line}: {}", error.message()), "`dyno price --init` writes an example")
    })?;
    match prices.fault() {
        Some(fault) => Err(usage(format!("{shown}: {fault}"), "")),
        None => Ok(prices),
    }
}
