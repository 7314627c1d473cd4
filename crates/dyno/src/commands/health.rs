//! `dyno health`: checks whether the platform meets its expectations.

use std::path::Path;

use dyno_analyze::conclusion::suite::SuiteResult;
use dyno_analyze::health::{CheckedSuite, Expectation, ExpectationResult, next_steps, of_suite};
use dyno_analyze::{Conclusion, next_lines};
use dyno_campaign::{files, platforms};
use dyno_plan::located::Spanned;
use dyno_plan::{LocatedToml, PlanErrorKind, PlanErrors, PlanFile};
use dyno_report::html::pages;
use dyno_report::model::PageSection;
use dyno_report::{health_grid, next_text};
use serde::Deserialize;
use serde_json::json;

use crate::cli::{CommonArgs, Health};
use crate::console::Console;
use crate::context;
use crate::exit::Exit;

/// Comment at the top of a generated expectations file.
const HEAD: &str = "\
# Expectations of a platform: limits on figures of the tests of `dyno suite`, for `dyno health`.
#   TEST >= NUMBER                        the highest value of the test's key figure
#   TEST >= NUMBER at p99 <= TIME         the highest value while service time keeps a limit (mean, p95, p99)
#   TEST.FIGURE <= NUMBER                 another figure of its steps, such as redo_mb_per_s; TEST.alone is a single session's time
";

pub(super) fn run(common: &CommonArgs, args: &Health, talk: &Console) -> anyhow::Result<Exit> {
    let repository = context::repository_to_read(common)?;
    let (conclusion, suite) = platforms::concluded(&repository, &args.suite)?;
    let database = platforms::database(&repository, &conclusion.of)?;
    if args.init {
        return init(&conclusion, &suite, database, args, talk);
    }
    let (of_database, expectations) = expectations(&args.expect)?;
    let answers: Vec<ExpectationResult> =
        expectations.iter().map(|expected| expected.evaluate(&suite)).collect();
    let met = answers.iter().filter(|answer| answer.met).count();
    let reservation = other_product(of_database.as_deref(), database.as_deref());
    let line = format!(
        "{met} of {} expectations are met by {}{}",
        answers.len(),
        conclusion.of,
        reservation.as_ref().map_or_else(String::new, |why| format!("; with reservation: {why}"))
    );
    let meets = |suite: &SuiteResult| expectations.iter().all(|expected| expected.evaluate(suite).met);
    let earlier = match met == answers.len() {
        true => Vec::new(),
        false => platforms::earlier(&repository, &conclusion.of)?,
    };
    let checked = CheckedSuite {
        id: &conclusion.of,
        suite: &suite,
        last_met: earlier.into_iter().find(|(_, suite)| meets(suite)).map(|(id, _)| id),
        is_other_product: reservation.is_some(),
        new_file: new_file(&args.expect),
        again: platforms::suite_rerun(&repository, &conclusion.of, &suite)?,
    };
    let next = next_steps(&checked, &expectations, &answers);
    talk.json(&json!({
        "suite": conclusion.of, "met": met == answers.len(), "answers": answers, "database": database,
        "expected_of": of_database, "reservation": reservation, "next": next,
    }))?;
    talk.show(&health_grid(&answers).render(&talk.style()))?;
    talk.show(&format!("{line}\n"))?;
    talk.show(&next_text(&next, &talk.style()))?;
    if let Some(path) = &args.output {
        let section = PageSection {
            title: line,
            lines: [format!("Expectations from {}.", args.expect.display()), conclusion.line.clone()]
                .into_iter()
                .chain(next_lines(&next))
                .collect(),
            grids: vec![(String::new(), health_grid(&answers))],
            ..PageSection::default()
        };
        let page = pages("Health", &conclusion.of, &[section]);
        files::replace(path, page.as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(if met == answers.len() { Exit::Done } else { Exit::Invalid })
}

/// A file beside this one for further expectations, which does not exist yet.
fn new_file(expect: &Path) -> String {
    let names = std::iter::once("new.toml".to_owned()).chain((2..).map(|n| format!("new{n}.toml")));
    let mut paths = names.map(|end| expect.with_extension(end));
    paths.find(|path| !path.exists()).map(|path| path.display().to_string()).unwrap_or_default()
}

/// Says that the expectations are those of another product; `None` where both are alike, or one is unknown.
/// Another version of one product is what expectations are for.
fn other_product(expected: Option<&str>, measured: Option<&str>) -> Option<String> {
    let (expected, measured) = expected.zip(measured)?;
    (product(expected) != product(measured))
        .then(|| format!("the expectations are of {expected}, and the suite measured {measured}"))
}

/// The product without its version: `Oracle Database` of `Oracle Database 19.21`.
fn product(database: &str) -> Vec<&str> {
    let is_name = |word: &&str| !word.starts_with(|first: char| first.is_ascii_digit());
    database.split_whitespace().take_while(is_name).collect()
}

fn init(
    conclusion: &Conclusion,
    suite: &SuiteResult,
    database: Option<String>,
    args: &Health,
    talk: &Console,
) -> anyhow::Result<Exit> {
    let of_database = database.map_or_else(String::new, |name| format!("database = {name:?}\n"));
    let all = of_suite(suite, f64::from(args.room));
    let lines: String = all.iter().map(|expected| format!("  \"{expected}\",\n")).collect();
    let text = format!(
        "{HEAD}\n# From {}, with a tolerance of {} %.\n{of_database}expect = [\n{lines}]\n",
        conclusion.of, args.room
    );
    super::new_file::write_new(&args.expect, &text, args.force, "--expect")?;
    talk.say(&format!("wrote {}: {} expectations", args.expect.display(), all.len()));
    Ok(Exit::Done)
}

/// The content of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectations {
    /// Product and version whose suite the expectations come from: `PostgreSQL 16.2`.
    #[serde(default)]
    database: Option<String>,
    expect: Vec<Spanned<String>>,
}

/// Reads the file: the database that it describes, and its expectations.
fn expectations(path: &Path) -> Result<(Option<String>, Vec<Expectation>), PlanErrors> {
    let hint = "`dyno health --init` writes one from a good suite";
    let file = PlanFile::open_input(path, "file of --expect", hint)?;
    let toml = LocatedToml::parse(&file.name, &file.text, "write expect = [ … ]")?;
    let Expectations { database, expect } = toml.read()?;
    if expect.is_empty() {
        return Err(toml.error(&["expect"], "no expectations", hint).into());
    }
    let mut errors = PlanErrors::default();
    let mut parse = |text: &Spanned<String>| match text.get_ref().parse::<Expectation>() {
        Ok(expectation) => Some(expectation),
        Err(error) => {
            errors.push(toml.error_at(text.span().start, PlanErrorKind::Range, error.to_string(), ""));
            None
        }
    };
    let all = expect.iter().filter_map(&mut parse).collect();
    if errors.errors.is_empty() { Ok((database, all)) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_of_another_product_are_a_reservation() {
        let why = other_product(Some("MariaDB 10.11.6"), Some("PostgreSQL 15.3")).unwrap();
        assert_eq!(why, "the expectations are of MariaDB 10.11.6, and the suite measured PostgreSQL 15.3");
        for (expected, measured) in [
            ("PostgreSQL 15.3", "PostgreSQL 18.1"),
            ("PostgreSQL 15.18 (Debian 15.18-0+deb12u1)", "PostgreSQL 18.4 (Debian 18.4-1)"),
            ("Oracle Database 19.21", "Oracle Database 23.9"),
        ] {
            assert_eq!(other_product(Some(expected), Some(measured)), None, "{expected}");
        }
        assert_eq!(other_product(None, Some("PostgreSQL 18.1")), None);
    }

    #[test]
    fn expectation_errors_have_a_place_and_a_hint() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("expect.toml");
        for (text, place) in [
            ("expct = []\n", "1:1: expct: unknown key; did you mean expect?"),
            ("expect = []\n", "1:10: expect: no expectations; `dyno health --init`"),
            ("expect = [\n  5,\n]\n", "2:3: expect: not a text"),
            (
                "expect = [\n  \"a >= 5\",\n  \"a => 5\",\n]\n",
                "3:3: invalid expectation \"a => 5\": write TEST",
            ),
            ("expect = [\n", "1:11: not valid TOML: "),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = expectations(&path).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}:{place}", path.display())), "{error}");
        }
    }
}
