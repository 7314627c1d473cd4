//! `dyno study report`: shows the table, plot, ranking and order of a study.

use std::path::{Path, PathBuf};

use dyno_analyze::Conclusion;
use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::files;
use dyno_campaign::study::{conclusion, latest};
use dyno_report::html::document_page;
use dyno_report::{document_markdown, study_csv, study_document};
use serde_json::json;

use crate::cli::{CommonArgs, ReportStudy};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &ReportStudy, talk: &Console) -> anyhow::Result<Exit> {
    check(&args.output)?;
    let repository = context::repository_to_read(common)?;
    let id = match &args.study {
        Some(name) => repository.resolve_sweep(name)?,
        None => latest(&repository, false)?,
    };
    show_conclusion(&conclusion(&repository, &id)?, &args.output, talk)?;
    Ok(Exit::Done)
}

/// Refuses a file with an unknown format before anything is measured.
pub(super) fn check(output: &[PathBuf]) -> anyhow::Result<()> {
    match output.iter().find(|path| !matches!(end(path), "html" | "md" | "csv")) {
        None => Ok(()),
        Some(path) => {
            Err(usage(format!("{}: unknown format", path.display()), "end its name with .html, .md or .csv"))
        }
    }
}

fn end(path: &Path) -> &str {
    path.extension().and_then(|end| end.to_str()).unwrap_or_default()
}

/// Shows a conclusion, and writes its files.
pub(super) fn show_conclusion(
    conclusion: &Conclusion,
    output: &[PathBuf],
    talk: &Console,
) -> anyhow::Result<()> {
    let ConclusionFigures::Study(study) = &conclusion.figures else {
        return Err(usage(
            format!("{} is not a study", conclusion.of),
            "`dyno list --sweeps` shows all; `dyno report` is for others",
        ));
    };
    talk.json(&json!({
        "study": conclusion.of, "done": conclusion.stopped.is_none(), "line": conclusion.line,
        "findings": conclusion.words, "next": conclusion.next, "figures": study,
    }))?;
    talk.show(&dyno_report::conclusion_text(conclusion, &talk.style()))?;
    let document = study_document(conclusion, study);
    for path in output {
        let text = match end(path) {
            "html" => document_page(None, &document),
            "md" => document_markdown(&document),
            _ => study_csv(study),
        };
        files::replace(path, text.as_bytes())?;
        talk.say(&format!("written: {}", path.display()));
    }
    Ok(())
}
