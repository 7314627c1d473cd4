//! `dyno study`: measures interleaved variants of the platform.

mod plan;
mod report;

use std::path::{Path, PathBuf};

use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::study::{
    StudyDefinition, StudyEnd, StudyOutcome, find, home, latest, resume, run as walk,
};
use dyno_plan::PlanFile;
use dyno_plan::study::{Need, PIECES, READY_STUDIES, ReadyStudy, StudyFile};
use serde_json::json;

use crate::cli::{
    CommonArgs, DEFAULT_PLAN, ListStudies, MarkArgs, ResumeStudy, RunStudy, StudyArgs, StudyCommand,
    WhichStudy,
};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};
use dyno_report::model::{Grid, GridCell, GridHead};

pub(super) fn run(common: &CommonArgs, args: &StudyArgs, talk: &Console) -> anyhow::Result<Exit> {
    match &args.command {
        StudyCommand::List(args) => list(args, talk),
        StudyCommand::Plan(which) => {
            let order = study_order(common, which, Path::new("a new folder"))?;
            plan::show(&order, talk)
        }
        StudyCommand::Run(args) => start_study(common, args, talk),
        StudyCommand::Resume(args) => resume_study(common, args, talk),
        StudyCommand::Report(args) => report::run(common, args, talk),
    }
}

fn list(args: &ListStudies, talk: &Console) -> anyhow::Result<Exit> {
    if let Some(name) = &args.show {
        let piece = PIECES.iter().find(|(piece, _)| piece == name).map(|(_, text)| *text);
        let text = ReadyStudy::find(name).map(|study| study.text).or(piece);
        let text = text.ok_or_else(|| {
            usage(format!("unknown ready study or helper script {name:?}"), "`dyno study list` shows all")
        })?;
        talk.print_raw(text)?;
        return Ok(Exit::Done);
    }
    let title = |study: &ReadyStudy| -> anyhow::Result<String> {
        let file = StudyFile { file: study.file(), name: study.name.to_owned(), params: Vec::new() };
        Ok(file.study(&measures())?.title)
    };
    let mut table = Grid::new(vec![GridHead::tight("study"), GridHead::text("subject")]);
    let mut all = Vec::new();
    for study in READY_STUDIES {
        let title = title(study)?;
        table.row([GridCell::from(study.name), GridCell::from(title.as_str())]);
        all.push(json!({ "name": study.name, "title": title }));
    }
    let pieces: Vec<&str> = PIECES.iter().map(|(name, _)| *name).collect();
    talk.json(&json!({ "studies": all, "pieces": pieces }))?;
    talk.show(&table.render(&talk.style()))?;
    talk.say(&format!("helper scripts: {}; --show NAME prints a study or a script", pieces.join(", ")));
    Ok(Exit::Done)
}

fn measures() -> Vec<&'static str> {
    dyno_analyze::points::MEASURES.iter().map(|measure| measure.name).collect()
}

/// The named study, in `folder`.
fn study_order(
    common: &CommonArgs,
    selection: &WhichStudy,
    folder: &Path,
) -> anyhow::Result<StudyDefinition> {
    if common.plan != Path::new(DEFAULT_PLAN) {
        return Err(usage(
            "a study is itself a plan; --plan is not allowed with it",
            "name only the study's file",
        ));
    }
    let params = selection.param.iter().map(|param| {
        let pair =
            param.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        pair.ok_or_else(|| usage(format!("--param {param}: no value"), "write --param NAME=VALUE"))
    });
    let params = params.collect::<anyhow::Result<Vec<_>>>()?;
    let path = Path::new(&selection.study);
    let is_file = path.extension().is_some_and(|end| end == "toml") || selection.study.contains('/');
    let (file, name, here) = match ReadyStudy::find(&selection.study) {
        Some(ready) if !is_file => (ready.file(), ready.name.to_owned(), std::env::current_dir()?),
        None if !is_file => {
            let near =
                dyno_plan::similar::closest(&selection.study, READY_STUDIES.iter().map(|ready| ready.name));
            let hint = near.map_or_else(
                || "name a file (.toml); `dyno study list` shows the ready ones".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            return Err(usage(format!("unknown ready study {:?}", selection.study), hint));
        }
        _ => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let plan_dir = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            (PlanFile::open(path)?, name, plan_dir.canonicalize()?)
        }
    };
    let file = StudyFile { file, name, params };
    let mut order = StudyDefinition::new(&file, folder.to_path_buf(), here, &context::options(common))?;
    order.erase.clone_from(&selection.erase);
    Ok(order)
}

/// Creates a new folder with a unique name.
fn run_folder(selection: &WhichStudy) -> anyhow::Result<PathBuf> {
    let home = match &selection.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)?;
            dir.canonicalize()?
        }
        None => home().ok_or_else(|| usage("the user's state directory is not known", "give --dir DIR"))?,
    };
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    Ok(home.join(format!("{now}-{:05x}", std::process::id() & 0xf_ffff)))
}

fn start_study(common: &CommonArgs, args: &RunStudy, talk: &Console) -> anyhow::Result<Exit> {
    report::check(&args.output)?;
    let mut order = study_order(common, &args.which, &run_folder(&args.which)?)?;
    order.marks = (&args.marks).into();
    order.replace = args.replace;
    let walked = context::run_campaign(common, &args.marks, talk, |ctx| walk(ctx, &order))?;
    report_outcome(&walked, &order, &args.output, talk)
}

fn resume_study(common: &CommonArgs, args: &ResumeStudy, talk: &Console) -> anyhow::Result<Exit> {
    report::check(&args.output)?;
    if !common.set.is_empty() || !common.target.is_empty() {
        return Err(usage("a study resumes with its original options", "leave the other options out"));
    }
    let repository = context::repository(common)?;
    let id = match &args.study {
        Some(name) => name.clone(),
        None => latest(&repository, true)?,
    };
    let (id, order) = find(&repository, &id)?;
    drop(repository);
    let walked = context::run_campaign(common, &MarkArgs::default(), talk, |ctx| {
        resume(ctx, &id, &order, args.only_restore)
    })?;
    report_outcome(&walked, &order, &args.output, talk)
}

/// Variants without any measurement.
fn unmeasured_variants(walked: &StudyOutcome) -> Vec<&str> {
    match walked.conclusion.as_ref().map(|conclusion| &conclusion.figures) {
        Some(ConclusionFigures::Study(study)) => study.unmeasured(),
        _ => Vec::new(),
    }
}

/// Reports the result, and how to continue.
fn report_outcome(
    walked: &StudyOutcome,
    order: &StudyDefinition,
    output: &[PathBuf],
    talk: &Console,
) -> anyhow::Result<Exit> {
    let id = &walked.id;
    if let Some(conclusion) = &walked.conclusion {
        report::show_conclusion(conclusion, output, talk)?;
    } else {
        talk.json(&json!({ "study": id }))?;
    }
    let (words, exit) = match walked.after {
        StudyEnd::Done if !unmeasured_variants(walked).is_empty() => (
            format!(
                "stored as {id}, but no leg of {} was measured; `dyno study report {id}` shows the reasons",
                unmeasured_variants(walked).join(", ")
            ),
            Exit::Failed,
        ),
        StudyEnd::Done => {
            (format!("stored as {id}; `dyno study report {id} -o study.html` makes a page"), Exit::Done)
        }
        StudyEnd::Stopped => (
            format!("stopped, and everything is restored; `dyno study resume {id}` continues"),
            Exit::Interrupted,
        ),
        StudyEnd::GivenUp => (
            format!("stopped after three consecutive failures; `dyno study resume {id}` continues"),
            Exit::Failed,
        ),
        StudyEnd::NeedsReboot => (
            format!(
                "the machine must be restarted now; then `dyno study resume {id}` continues (--only-restore restores everything instead)"
            ),
            Exit::Reboot,
        ),
        StudyEnd::Restored => {
            (format!("everything is restored; `dyno study resume {id}` continues"), Exit::Done)
        }
    };
    talk.say(&words);
    if walked.after == StudyEnd::Done && order.study.variants.iter().any(|of| of.needs(Need::Reboot)) {
        talk.say(
            "the machine still has the settings of its last start: restart it to return to its usual state",
        );
    }
    Ok(exit)
}
