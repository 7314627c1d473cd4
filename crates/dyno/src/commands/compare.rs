//! `dyno compare`: compares two or more sets of runs.

use std::path::Path;

use dyno_analyze::answer::CurveSummaries;
use dyno_analyze::compare::{GateOutcome, GateResult};
use dyno_analyze::totals;
use dyno_campaign::compare::ComparisonResult;
use dyno_campaign::{files, select};
use dyno_record::RunRecord;
use dyno_report::html::pages;
use dyno_report::model::PageSection;
use dyno_report::{DifferenceReport, RowFilter, WorkbookSheet};
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
    let exit = show(&answers, filter(args.full, &answers), talk)?;
    if let (Some(path), Some(format)) = (&args.output, format) {
        files::replace(path, &written(format, &for_sides(&sides), &answers, args.full)?)?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(exit)
}

/// Which rows are shown: all, or those that differ by more than the margin.
pub(super) fn filter(full: bool, answers: &[ComparisonResult]) -> RowFilter {
    match (full, answers.first()) {
        (false, Some(first)) => RowFilter::Differing { margin_pct: first.comparison.margin_pct },
        _ => RowFilter::All,
    }
}

/// The report of a comparison.
fn report(answer: &ComparisonResult) -> DifferenceReport<'_> {
    let ComparisonResult { comparison, side_by_side, gates, next, .. } = answer;
    DifferenceReport { comparison, beside: side_by_side, gates, next }
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
    all: &[ComparisonResult],
    full: bool,
) -> anyhow::Result<Vec<u8>> {
    let reports: Vec<DifferenceReport<'_>> = all.iter().map(report).collect();
    // A workbook filters by itself.
    let filter = if format == "xlsx" { RowFilter::All } else { filter(full, all) };
    let sections = dyno_report::compare_sections(answers, &reports, filter);
    let names = reports.iter().map(|report| report.comparison.b.as_str());
    let sides: Vec<&str> =
        reports.first().map(|first| first.comparison.a.as_str()).into_iter().chain(names).collect();
    let title = format!("Comparison of {}", sides.join(", "));
    Ok(match format {
        "md" => dyno_report::sections_markdown(&title, &sections).into_bytes(),
        "csv" => {
            let grids = vec![(String::new(), dyno_report::differences_csv_grid(&reports))];
            dyno_report::sections_csv(&[PageSection { grids, ..PageSection::default() }]).into_bytes()
        }
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

/// Shows answers, and returns whether a gate failed or is not decided.
pub(super) fn show(answers: &[ComparisonResult], filter: RowFilter, talk: &Console) -> anyhow::Result<Exit> {
    let style = talk.style();
    for answer in answers {
        let sections = dyno_report::difference_sections(&report(answer), filter);
        talk.show(&dyno_report::sections_text(&sections, &style))?;
        if let Some(gains) = &answer.comparison.profile {
            talk.show(&format!("\n{}", dyno_report::profile_changes_text(gains, &style)))?;
        }
        for target in &answer.targets {
            talk.show(&format!("\n{}", dyno_report::compare_text(target, &[], &style)))?;
        }
    }
    let outcomes: Vec<GateOutcome> =
        answers.iter().flat_map(|answer| &answer.gates).map(GateResult::outcome).collect();
    let count = |outcome| outcomes.iter().filter(|of| **of == outcome).count();
    let (failed, open) = (count(GateOutcome::Failed), count(GateOutcome::NotDecided));
    for (number, words) in [(failed, "failed"), (open, "not decided")] {
        if number > 0 {
            talk.say(&format!("{number} of {} gates {words}", outcomes.len()));
        }
    }
    Ok(match (failed, open) {
        (0, 0) => Exit::Done,
        (0, _) => Exit::NotDecided,
        _ => Exit::Invalid,
    })
}
