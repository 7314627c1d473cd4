//! `dyno study`: variants of the platform by turns.

mod plan;
mod report;

use std::path::{Path, PathBuf};

use dyno_analyze::conclusion::Figures;
use dyno_campaign::study::{After, Order, Walked, find, home, latest, resume, run as walk};
use dyno_plan::PlanFile;
use dyno_plan::study::{Need, PIECES, READY_STUDIES, ReadyStudy, StudyFile};
use dyno_report::table::{Cell, Column, Table};
use serde_json::json;

use crate::cli::{
    Common, DEFAULT_PLAN, ListStudies, Marks, ResumeStudy, RunStudy, Study, StudyCommand, WhichStudy,
};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Study, talk: &Talk) -> anyhow::Result<Exit> {
    match &args.command {
        StudyCommand::List(args) => list(args, talk),
        StudyCommand::Plan(which) => {
            let order = order(common, which, Path::new("a new folder"))?;
            plan::show(&order, talk)
        }
        StudyCommand::Run(args) => begin(common, args, talk),
        StudyCommand::Resume(args) => go_on(common, args, talk),
        StudyCommand::Report(args) => report::run(common, args, talk),
    }
}

fn list(args: &ListStudies, talk: &Talk) -> anyhow::Result<Exit> {
    if let Some(name) = &args.show {
        let piece = PIECES.iter().find(|(piece, _)| piece == name).map(|(_, text)| *text);
        let text = ReadyStudy::find(name).map(|study| study.text).or(piece);
        let text = text.ok_or_else(|| {
            usage(
                format!("there is no ready study and no shell piece {name:?}"),
                "`dyno study list` shows all",
            )
        })?;
        talk.hand_over(text)?;
        return Ok(Exit::Done);
    }
    let title = |study: &ReadyStudy| -> anyhow::Result<String> {
        let file = StudyFile { file: study.file(), name: study.name.to_owned(), params: Vec::new() };
        Ok(file.study(&measures())?.title)
    };
    let mut table = Table::new(vec![Column::name("study"), Column::text("what it is about")]);
    let mut all = Vec::new();
    for study in READY_STUDIES {
        let title = title(study)?;
        table.row([Cell::from(study.name), Cell::from(title.as_str())]);
        all.push(json!({ "name": study.name, "title": title }));
    }
    let pieces: Vec<&str> = PIECES.iter().map(|(name, _)| *name).collect();
    talk.json(&json!({ "studies": all, "pieces": pieces }))?;
    talk.show(&table.render(&talk.style()))?;
    talk.say(&format!("shell pieces: {}; --show NAME prints a study or a piece", pieces.join(", ")));
    Ok(Exit::Done)
}

fn measures() -> Vec<&'static str> {
    dyno_analyze::points::MEASURES.iter().map(|measure| measure.name).collect()
}

/// The study that is named, in `folder`.
fn order(common: &Common, which: &WhichStudy, folder: &Path) -> anyhow::Result<Order> {
    if common.plan != Path::new(DEFAULT_PLAN) {
        return Err(usage(
            "a study is a plan of its own, and --plan names another",
            "name the study's file alone",
        ));
    }
    let params = which.param.iter().map(|param| {
        let pair =
            param.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        pair.ok_or_else(|| usage(format!("--param {param}: no value"), "write --param NAME=VALUE"))
    });
    let params = params.collect::<anyhow::Result<Vec<_>>>()?;
    let path = Path::new(&which.study);
    let is_file = path.extension().is_some_and(|end| end == "toml") || which.study.contains('/');
    let (file, name, here) = match ReadyStudy::find(&which.study) {
        Some(ready) if !is_file => (ready.file(), ready.name.to_owned(), std::env::current_dir()?),
        None if !is_file => {
            let near =
                dyno_plan::similar::closest(&which.study, READY_STUDIES.iter().map(|ready| ready.name));
            let hint = near.map_or_else(
                || "name a file (.toml); `dyno study list` shows the ready ones".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            return Err(usage(format!("there is no ready study {:?}", which.study), hint));
        }
        _ => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let here = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            (PlanFile::open(path)?, name, here.canonicalize()?)
        }
    };
    let file = StudyFile { file, name, params };
    let mut order = Order::new(&file, folder.to_path_buf(), here, &context::options(common))?;
    order.erase.clone_from(&which.erase);
    Ok(order)
}

/// A folder of its own, of a name that no other has.
fn folder(which: &WhichStudy) -> anyhow::Result<PathBuf> {
    let home = match &which.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)?;
            dir.canonicalize()?
        }
        None => home().ok_or_else(|| usage("the user's state directory is not known", "give --dir DIR"))?,
    };
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    Ok(home.join(format!("{now}-{:05x}", std::process::id() & 0xf_ffff)))
}

fn begin(common: &Common, args: &RunStudy, talk: &Talk) -> anyhow::Result<Exit> {
    report::check(&args.output)?;
    let mut order = order(common, &args.which, &folder(&args.which)?)?;
    order.marks = (&args.marks).into();
    order.replace = args.replace;
    let walked = context::led(common, &args.marks, talk, |lead| walk(lead, &order))?;
    ended(&walked, &order, &args.output, talk)
}

fn go_on(common: &Common, args: &ResumeStudy, talk: &Talk) -> anyhow::Result<Exit> {
    report::check(&args.output)?;
    if !common.set.is_empty() || !common.target.is_empty() {
        return Err(usage("a study goes on with what it began with", "leave the other options out"));
    }
    let repository = context::repository(common)?;
    let id = match &args.study {
        Some(name) => name.clone(),
        None => latest(&repository, true)?,
    };
    let (id, order) = find(&repository, &id)?;
    drop(repository);
    let walked =
        context::led(common, &Marks::default(), talk, |lead| resume(lead, &id, &order, args.only_restore))?;
    ended(&walked, &order, &args.output, talk)
}

/// Variants of which nothing was measured.
fn unmeasured(walked: &Walked) -> Vec<&str> {
    match walked.conclusion.as_ref().map(|conclusion| &conclusion.figures) {
        Some(Figures::Study(study)) => study.unmeasured(),
        _ => Vec::new(),
    }
}

/// What came of it, and how it goes on.
fn ended(walked: &Walked, order: &Order, output: &[PathBuf], talk: &Talk) -> anyhow::Result<Exit> {
    let id = &walked.id;
    if let Some(conclusion) = &walked.conclusion {
        report::told(conclusion, output, talk)?;
    } else {
        talk.json(&json!({ "study": id }))?;
    }
    let (words, exit) = match walked.after {
        After::Done if !unmeasured(walked).is_empty() => (
            format!(
                "stored as {id}, but no turn of {} was measured; `dyno study report {id}` has the reasons",
                unmeasured(walked).join(", ")
            ),
            Exit::Failed,
        ),
        After::Done => {
            (format!("stored as {id}; `dyno study report {id} -o study.html` makes a page"), Exit::Done)
        }
        After::Stopped => (
            format!("stopped, and everything is put back; `dyno study resume {id}` goes on"),
            Exit::Interrupted,
        ),
        After::GivenUp => (
            format!("given up after three failures in a row; `dyno study resume {id}` goes on"),
            Exit::Failed,
        ),
        After::NeedsReboot => (
            format!(
                "the machine has to be started anew now; then `dyno study resume {id}` goes on (--only-restore puts everything back instead)"
            ),
            Exit::Reboot,
        ),
        After::Restored => (format!("everything is put back; `dyno study resume {id}` goes on"), Exit::Done),
    };
    talk.say(&words);
    if walked.after == After::Done && order.study.variants.iter().any(|of| of.needs(Need::Reboot)) {
        talk.say("the machine is still as its last start brought it: start it anew for its usual state");
    }
    Ok(exit)
}
