//! `dyno compare`: compares two or more sets of runs.

use std::path::Path;

use dyno_analyze::answer::CurveSummaries;
use dyno_analyze::{RunComparison, totals};
use dyno_campaign::compare::ComparisonResult;
use dyno_campaign::{files, select};
use dyno_record::RunRecord;
use dyno_report::WorkbookSheet;
use dyno_report::html::pages;
use dyno_report::model::PageSection;
use serde_json::json;

use crate::answers::for_sides;
use crate::cli::{self, CommonArgs};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &cli::Compare, talk: &Console) -> anyhow::Result<Exit> {
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
    talk.show(&format!("{}\n", dyno_report::answer_text(&for_sides(&sides), &talk.style())))?;
    let exit = show(&answers, talk)?;
    if let (Some(path), Some(format)) = (&args.output, format) {
        let comparisons: Vec<_> = answers.iter().map(|answer| &answer.comparison).collect();
        files::replace(path, &written(format, &for_sides(&sides), &comparisons, &answers)?)?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(exit)
}

/// Formats of a comparison, by file extension.
const FORMATS: [&str; 5] = ["html", "md", "csv", "json", "xlsx"];

fn format(path: &Path) -> anyhow::Result<&'static str> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("html").to_ascii_lowercase();
    let ending = if ending == "htm" { "html" } else { ending.as_str() };
    FORMATS.into_iter().find(|known| *known == ending).ok_or_else(|| {
        usage(
            format!("unknown comparison format {ending:?}"),
            format!("name a file that ends with one of {}", FORMATS.join(", ")),
        )
    })
}

fn written(
    format: &str,
    answers: &CurveSummaries,
    comparisons: &[&RunComparison],
    all: &[ComparisonResult],
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
            let named = |section: &PageSection| -> Vec<WorkbookSheet> {
                let name = |own: &str| {
                    if own.is_empty() { section.title.clone() } else { format!("{own} {}", section.title) }
                };
                section.grids.iter().map(|(own, grid)| (name(own), grid.clone())).collect()
            };
            let sheets: Vec<WorkbookSheet> = sections.iter().flat_map(named).collect();
            dyno_report::workbook(&sheets)?
        }
        _ => pages(&title, &format!("report made {}", dyno_record::now_rfc3339()), &sections).into_bytes(),
    })
}

/// Shows answers, and returns whether a gate failed.
pub(super) fn show(answers: &[ComparisonResult], talk: &Console) -> anyhow::Result<Exit> {
    let texts: Vec<String> = answers
        .iter()
        .flat_map(|answer| {
            let whole = dyno_report::compare_text(&answer.comparison, &answer.gates, &talk.style());
            let target_texts =
                answer.targets.iter().map(|own| dyno_report::compare_text(own, &[], &talk.style()));
            std::iter::once(whole).chain(target_texts).collect::<Vec<_>>()
        })
        .collect();
    talk.show(&texts.join("\n"))?;
    let gates = || answers.iter().flat_map(|answer| &answer.gates);
    let broken = gates().filter(|gate| !gate.holds).count();
    if broken > 0 {
        talk.say(&format!("{broken} of {} gates failed", gates().count()));
        return Ok(Exit::Invalid);
    }
    Ok(Exit::Done)
}
