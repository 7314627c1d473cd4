//! Platforms compared with each other: a scorecard, and the cost of performance.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use serde_json::Value;

/// A short suite of two tests for this variant.
fn run_suite(desk: &TestEnv, variant: &str) {
    let url = format!("sqlite:{}", desk.file("verdicts.db").display());
    let args = [
        "suite",
        "--quick",
        "--target",
        &url,
        "--variant",
        variant,
        "--test",
        "cpu-integer",
        "--test",
        "server-lookup",
    ];
    let short = ["--set", "run.warmup=200ms", "--set", "run.time=1s", "--set", "data.scale=2M"];
    let (code, suite_result) = desk.json(&[&args[..], &short].concat());
    assert_eq!(code, 0, "{suite_result:#}");
}

fn entry_by_key<'v>(list: &'v Value, key: &str, name: &str) -> &'v Value {
    list.items().iter().find(|one| one[key] == name).unwrap_or_else(|| panic!("{name} in {list:#}"))
}

#[test]
fn scorecard_compares_platforms_and_their_prices() {
    let desk = TestEnv::new();
    for variant in ["old", "new", "new"] {
        run_suite(&desk, variant);
    }
    let page = desk.file("card.html").display().to_string();
    let args = ["scorecard", "variant:old", "variant:new", "server-in-memory-oracle", "-o", &page];
    let (code, card) = desk.json(&args);
    assert_eq!(code, 0, "{card:#}");
    let lookup = entry_by_key(&card["lines"], "test", "server-lookup");
    let value = |at: usize| lookup["values"][at]["Ok"]["value"].number();
    let ratio = |at: usize| lookup["ratios"][at]["times"].number();
    assert!((ratio(1) - value(1) / value(0)).abs() < 1e-9);
    assert!((ratio(2) - 512_000.0 / value(0)).abs() < 1e-9);
    assert_eq!(lookup["values"][1]["Ok"]["runs"], 2, "two suites of one variant are repeats");
    assert_eq!(lookup["ratios"][1]["verdict"], "single", "the first has no repeats");
    assert_eq!(
        entry_by_key(&card["lines"], "test", "cpu-integer")["values"][2]["Err"],
        "not in the document"
    );
    assert!(card["notes"].to_string().contains("Oracle's licence"), "{}", card["notes"]);
    let step = entry_by_key(&card["next"], "rule", "scorecard_few_runs");
    let command = step["command"].as_str().unwrap();
    let repeated =
        "dyno suite --quick --test cpu-integer --test server-lookup --variant old --target sqlite:";
    assert!(command.starts_with(repeated), "{command}");
    let written = std::fs::read_to_string(&page).unwrap();
    assert!(written.contains("<svg"));
    assert!(written.contains("server-lookup"));
    assert!(written.contains("measured elsewhere"));

    // The figures equal those in the suite's own table.
    let (_, shown) = desk.json(&["scorecard", "last", "a=variant:old", "--figure", "alone"]);
    assert_eq!(shown["platforms"][1], "a");
    let (_, whole) = desk.json(&["show", "sweep:last"]);
    let tests = &whole["conclusions"][0]["figures"]["tests"];
    let single = tests.items().iter().find(|test| test["page"]["id"] == "server-lookup").unwrap();
    assert_eq!(
        entry_by_key(&shown["lines"], "test", "server-lookup")["values"][0]["Ok"]["value"],
        single["single_us"]
    );

    let prices = desk.file("prices.toml").display().to_string();
    let text = "currency = \"EUR\"\nmonths = 10\n[[platform]]\nname = \"old\"\nsuite = \"variant:old\"\npurchase = 1000\n\
        [[platform]]\nname = \"random-read-flash-oracle\"\nper_month = 510868\n";
    std::fs::write(&prices, text).unwrap();
    let (code, priced) = desk.json(&["price", &prices]);
    assert_eq!(code, 0, "{priced:#}");
    assert_eq!(entry_by_key(&priced["platforms"], "name", "old")["a_month"], 100.0);
    let reads = entry_by_key(&priced["costs"], "test", "storage-random-read");
    assert_eq!(reads["each"][1]["Ok"]["a_month"], 1000.0, "a thousand reads at the knee of 510,868");
    assert_eq!(reads["each"][0]["Err"], "not measured");

    // The printed page begins with the sheets for decision makers.
    let args = [
        "scorecard",
        "variant:old",
        "variant:new",
        "--prices",
        &prices,
        "--author",
        "A. Tester",
        "-o",
        &page,
    ];
    assert_eq!(desk.dyno(&args).code, 0);
    let written = std::fs::read_to_string(&page).unwrap();
    let (_, sheets) = written.split_once("<section id=\"summary\">").unwrap();
    let (sheets, _) = sheets.split_once("</section>").unwrap();
    for text in [
        "A. Tester",
        "Comparison",
        "server-lookup",
        "Price",
        "EUR",
        "No price is known for new",
        "Not measured",
        "<svg",
    ] {
        assert!(sheets.contains(text), "{text} in {sheets}");
    }
    let report = desk.file("suite.html").display().to_string();
    let sheet = |more: &[&str]| {
        assert_eq!(desk.dyno(&[&["report", "variant:old", "-o", &report], more].concat()).code, 0);
        let page = std::fs::read_to_string(&report).unwrap();
        let (_, sheets) = page.split_once("<section id=\"summary\">").unwrap();
        sheets.split_once("</section>").unwrap().0.to_owned()
    };
    assert!(sheet(&[]).contains("no prices were given"));
    let priced = sheet(&["--prices", &prices]);
    let price_args = ["--prices", &prices];
    assert_eq!(
        desk.dyno(&[&["report", "variant:old", "variant:new", "-o", &report][..], &price_args].concat()).code,
        0
    );
    let page = std::fs::read_to_string(&report).unwrap();
    let sheets = page.split_once("<section id=\"summary\">").unwrap().1.split_once("</section>").unwrap().0;
    assert_eq!(
        sheets.matches("purchase 100").count(),
        1,
        "the suites of the other variant have no price: {sheets}"
    );
    assert!(priced.contains("purchase 100"), "{priced}");
    assert!(priced.contains("used for 10 months"), "{priced}");
}

#[test]
fn invalid_scorecard_and_price_commands_are_refused_with_hint() {
    let desk = TestEnv::new();
    run_suite(&desk, "old");
    let refused = |args: &[&str], words: &str| {
        let output = desk.dyno(args);
        assert_eq!(output.code, 2, "{output:#?}");
        assert!(output.err.contains(words), "{output:#?}");
    };
    refused(&["scorecard", "last", "variant:none"], "does not name a suite with a result");
    refused(&["scorecard", "last", "variant:old", "--figure", "all"], "most, optimum or alone");
    refused(&["price", "none.toml"], "`dyno price --init` writes an example");
    let prices = desk.file("prices.toml").display().to_string();
    assert_eq!(desk.dyno(&["price", &prices, "--init"]).code, 0);
    refused(&["price", &prices, "--init"], "--force");
    refused(&["price", &prices], "variant:old-array");
    let faulty = |text: &str, words: &str| {
        std::fs::write(&prices, text).unwrap();
        refused(&["price", &prices], words);
    };
    faulty(
        "currency = \"EUR\"\nmonths = 48\n[[platform]]\nname = \"a\"\nprice = 3\n",
        "prices.toml:5:1: platform.price: unknown key; allowed: name, suite, ",
    );
    faulty("currency = \"EUR\"\nmonths = 0\n[[platform]]\nname = \"a\"\n", "prices.toml:2:10: months = 0");
    faulty("currency = \"EUR\"\nmonths = 1\n[[platform]]\nname = \"a\"\n", "platform a: purchase");
}
