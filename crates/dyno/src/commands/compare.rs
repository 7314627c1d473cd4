//! `dyno compare`: two or more sets of runs against each other.

use std::path::Path;

use dyno_analyze::answer::Answers;
use dyno_analyze::{Comparison, totals};
use dyno_campaign::compare::Answer;
use dyno_campaign::{files, select};
use dyno_record::RunRecord;
use dyno_report::Sheet;
use dyno_report::html::{Section, pages};
use serde_json::json;

use crate::answers::of_sides;
use crate::cli::{self, Common};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &cli::Compare, talk: &Talk) -> anyhow::Result<Exit> {
    let judge = args.rules.judge()?;
    let repository = context::repository_to_read(common)?;
    let sides = args.sides.iter().map(|selection| {
        let settings = totals::settings(select::of_runs(&repository, selection)?);
        Ok((selection.clone(), settings.into_iter().map(|setting| setting.whole).collect()))
    });
    let sides: Vec<(String, Vec<RunRecord>)> = sides.collect::<anyhow::Result<_>>()?;
    let format = args.output.as_deref().map(format).transpose()?;
    let answers = judge.answers(&sides);
    talk.json(&answers)?;
    talk.show(&format!("{}\n", dyno_report::answer_text(&of_sides(&sides), &talk.style())))?;
    let exit = show(&answers, talk)?;
    if let (Some(path), Some(format)) = (&args.output, format) {
        let comparisons: Vec<_> = answers.iter().map(|answer| &answer.comparison).collect();
        files::replace(path, &written(format, &of_sides(&sides), &comparisons, &answers)?)?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(exit)
}

/// Formats of a comparison, by the ending of a file.
const FORMATS: [&str; 5] = ["html", "md", "csv", "json", "xlsx"];

fn format(path: &Path) -> anyhow::Result<&'static str> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("html").to_ascii_lowercase();
    let ending = if ending == "htm" { "html" } else { ending.as_str() };
    FORMATS.into_iter().find(|known| *known == ending).ok_or_else(|| {
        usage(
            format!("{ending:?} is no format of a comparison"),
            format!("a file that ends with one of {}", FORMATS.join(", ")),
        )
    })
}

fn written(
    format: &str,
    answers: &Answers,
    comparisons: &[&Comparison],
    all: &[Answer],
) -> anyhow::Result<Vec<u8>> {
    let sections = dyno_report::compare_sections(answers, comparisons);
    let sides: Vec<&str> = comparisons
        .first()
        .map(|first| first.a.as_str())
        .into_iter()
        .chain(comparisons.iter().map(|comparison| comparison.b.as_str()))
        .collect();
    let title = format!("Comparison of {}", sides.join(", "));
    Ok(match format {
        "md" => dyno_report::sections_markdown(&title, &sections).into_bytes(),
        "csv" => dyno_report::sections_csv(&sections).into_bytes(),
        "json" => serde_json::to_vec_pretty(&json!({ "answers": answers, "comparisons": all }))?,
        "xlsx" => {
            let named = |section: &Section| -> Vec<Sheet> {
                let name = |own: &str| {
                    if own.is_empty() { section.title.clone() } else { format!("{own} {}", section.title) }
                };
                section.grids.iter().map(|(own, grid)| (name(own), grid.clone())).collect()
            };
            let sheets: Vec<Sheet> = sections.iter().flat_map(named).collect();
            dyno_report::workbook(&sheets)?
        }
        _ => pages(&title, &format!("report made {}", dyno_record::now_rfc3339()), &sections).into_bytes(),
    })
}

/// Shows answers, and says whether a gate is broken.
pub(super) fn show(answers: &[Answer], talk: &Talk) -> anyhow::Result<Exit> {
    let texts: Vec<String> = answers
        .iter()
        .flat_map(|answer| {
            let whole = dyno_report::compare_text(&answer.comparison, &answer.gates, &talk.style());
            let own = answer.targets.iter().map(|own| dyno_report::compare_text(own, &[], &talk.style()));
            std::iter::once(whole).chain(own).collect::<Vec<_>>()
        })
        .collect();
    talk.show(&texts.join("\n"))?;
    let gates = || answers.iter().flat_map(|answer| &answer.gates);
    let broken = gates().filter(|gate| !gate.holds).count();
    if broken > 0 {
        talk.say(&format!("{broken} of {} gates are broken", gates().count()));
        return Ok(Exit::Invalid);
    }
    Ok(Exit::Done)
}
