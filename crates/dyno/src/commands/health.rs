//! `dyno health`: checks whether the platform meets its expectations.

use std::path::Path;

use dyno_analyze::Conclusion;
use dyno_analyze::conclusion::suite::SuiteResult;
use dyno_analyze::health::{Expectation, ExpectationResult, of_suite};
use dyno_campaign::{files, platforms};
use dyno_report::health_grid;
use dyno_report::html::{PageSection, pages};
use dyno_report::table::TextTable;
use serde_json::json;

use crate::cli::{CommonArgs, Health};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

/// Comment at the top of a generated expectations file.
const HEAD: &str = "\
# Expectations of a platform: limits on figures of the tests of `dyno suite`, for `dyno health`.
#   TEST >= NUMBER                        the highest value of the test's key figure
#   TEST >= NUMBER at p99 <= TIME         the highest value while service time keeps a limit (mean, p95, p99)
#   TEST.FIGURE <= NUMBER                 another figure of its steps, such as redo_mb_per_s; TEST.alone is a single session's time
";

pub(super) fn run(common: &CommonArgs, args: &Health, talk: &Console) -> anyhow::Result<Exit> {
    let (conclusion, suite) = platforms::concluded(&context::repository_to_read(common)?, &args.suite)?;
    if args.init {
        return init(&conclusion, &suite, args, talk);
    }
    let expectations = expectations(&args.expect)?;
    let answers: Vec<ExpectationResult> =
        expectations.iter().map(|expected| expected.evaluate(&suite)).collect();
    let met = answers.iter().filter(|answer| answer.met).count();
    let line = format!("{met} of {} expectations are met by {}", answers.len(), conclusion.of);
    talk.json(&json!({ "suite": conclusion.of, "met": met == answers.len(), "answers": answers }))?;
    talk.show(&TextTable::from(&health_grid(&answers)).render(&talk.style()))?;
    talk.show(&format!("{line}\n"))?;
    if let Some(path) = &args.output {
        let section = PageSection {
            title: line,
            lines: vec![format!("Expectations from {}.", args.expect.display()), conclusion.line.clone()],
            grids: vec![(String::new(), health_grid(&answers))],
            ..PageSection::default()
        };
        let page = pages("Health", &conclusion.of, &[section]);
        files::replace(path, page.as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(if met == answers.len() { Exit::Done } else { Exit::Invalid })
}

fn init(conclusion: &Conclusion, suite: &SuiteResult, args: &Health, talk: &Console) -> anyhow::Result<Exit> {
    let all = of_suite(suite, f64::from(args.room));
    let lines: String = all.iter().map(|expected| format!("  \"{expected}\",\n")).collect();
    let text = format!(
        "{HEAD}\n# From {}, with a tolerance of {} %.\nexpect = [\n{lines}]\n",
        conclusion.of, args.room
    );
    super::new_file::write_new(&args.expect, &text, args.force, "--expect")?;
    talk.say(&format!("wrote {}: {} expectations", args.expect.display(), all.len()));
    Ok(Exit::Done)
}

/// Parses the expectations of the file; each error states its line.
fn expectations(path: &Path) -> anyhow::Result<Vec<Expectation>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        usage(format!("{shown} cannot be read: {error}"), "`dyno health --init` writes one from a good suite")
    })?;
    let read: Result<toml::Table, _> = text.parse();
    let table = read.map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(&text, span.start));
        usage(format!("{shown}:{line}: not valid TOML: {}", error.message()), "write expect = [ … ]")
    })?;
    if let Some(key) = table.keys().find(|key| *key != "expect") {
        return Err(usage(format!("{shown}: {key}: there is no such key"), "write expect = [ … ]"));
    }
    let list = table.get("expect").and_then(toml::Value::as_array).filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| usage(format!("{shown}: no expectations"), "write expect = [ … ]"))?;
    let parse_expectation = |value: &toml::Value| {
        let written = value.as_str().map_or_else(|| format!("{value:?}"), str::to_owned);
        let line = text.find(&written).map_or(1, |at| line_of(&text, at));
        written.parse::<Expectation>().map_err(|error| usage(format!("{shown}:{line}: {error}"), ""))
    };
    list.iter().map(parse_expectation).collect()
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}
