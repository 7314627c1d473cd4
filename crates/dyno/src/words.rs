//! The events of a campaign in words.

use std::path::Path;

use dyno_analyze::Answers;
use dyno_campaign::{Event, Holdings, HookEvent, LoadEvent, ProofEvent, SetUp, StudyEvent, Warning};
use dyno_engine::{DropItem, LoadReport};
use dyno_record::RunRecord;
use dyno_report::number::{count, fixed};
use dyno_report::{ResultRow, Style};

use crate::talk::Talk;

/// Says what has happened, where it is said in words.
pub(crate) fn event(event: &Event, talk: &Talk) {
    match event {
        Event::Locked(Some(caveat)) => talk.say(&format!("warning: {caveat}")),
        Event::Locked(None) => talk.detail("the target is locked against other dynos"),
        Event::Writes(url, ways) => {
            talk.say(&format!("data of {url} that Dyno did not make is changed:"));
            ways.iter().for_each(|way| talk.say(&format!("  {way}")));
        }
        Event::LookingAtData => talk.detail("looking at the data"),
        Event::Learning => talk.detail("learning what each transaction does, on one session alone"),
        Event::EmptyingTable => talk.detail("making the table anew that is loaded"),
        Event::SettlingLoad => talk.detail("waiting until what was loaded is on the disk, and counting it"),
        Event::AskingInvariants => talk.detail("asking what must stay true"),
        Event::WaitingForData => talk.detail("waiting until all targets see the data"),
        Event::Removed(rows) => {
            talk.say(&format!("removed {rows} rows that a run had inserted and left behind"));
        }
        Event::DroppingData => talk.detail("dropping data of another block size"),
        Event::CheckingDeeply => talk.say("loading, driving and dropping a small schema"),
        Event::AcceptanceStep(number, title) => talk.say(&format!("step {number}: {title}")),
        Event::Hook(event) => hook(event, talk),
        Event::RunBegun { id, targets, is_part } => {
            let words = format!("run {id} on {targets}");
            if *is_part { talk.detail(&words) } else { talk.say(&words) }
        }
        Event::Tidying => talk
            .say("the run is stored; removing the rows that it inserted takes a while (Ctrl-C leaves them)"),
        Event::OwnReport(name, path) => {
            let file =
                path.as_ref().map_or_else(String::new, |path| format!(", saved in {}", path.display()));
            talk.say(&format!("this run lies between {name}{file}"));
        }
        Event::Judged(kept, measured) => {
            talk.say(&format!("  {}: {}", if *kept { "kept" } else { "not kept" }, measured.join(", ")));
        }
        Event::Proof(event) => proof(event, talk),
        Event::Dropped(holdings) => dropped(holdings, talk),
        Event::Study(event) => study(event, talk),
        Event::Warning(event) => warning(event, talk),
        // A terminal shows these in a form of their own.
        Event::Reached | Event::Load(_) | Event::Phase(_) | Event::RunOver | Event::Stored(_) => {}
        Event::Seen(_) => {}
        Event::Paused(true) => talk.say("paused: no run begins until it is told to go on"),
        Event::Paused(false) => talk.detail("going on"),
        Event::Begun(_) | Event::Next(_) | Event::Ended(_) => {}
    }
}

fn hook(event: &HookEvent, talk: &Talk) {
    match event {
        HookEvent::Planned(name, command) => talk.say(&planned(&format!("hooks.{name}"), command)),
        HookEvent::Started(name, command) => talk.detail(&format!("hooks.{name}: {command}")),
        HookEvent::Said(name, output) => talk.detail(&format!("hooks.{name} says{output}")),
        HookEvent::FailedAfterRun(error) => talk.error(error, "the run before it is stored and counts"),
        HookEvent::FailedAtEnd(error) => talk.error(error, "the runs before it are stored and count"),
    }
}

/// Says what happens in a study.
fn study(event: &StudyEvent, talk: &Talk) {
    match event {
        StudyEvent::Begun { id, folder, legs: (done, all) } => {
            let so_far =
                if *done > 0 { format!(", {done} of {all} legs are done") } else { format!(", {all} legs") };
            talk.say(&format!("{id}{so_far}; its journal is in {}", folder.display()));
            talk.say(
                "Ctrl-C stops and puts everything back; after a crash `dyno study resume` does that first",
            );
        }
        StudyEvent::Leg { number, of, variant, repeat, left_s } => {
            let time =
                left_s.map_or_else(String::new, |left| format!("  {}", dyno_report::study::left_words(left)));
            talk.say(&format!("leg {number} of {of}: {variant} (repeat {repeat}){time}"));
        }
        StudyEvent::Command(when, command) => talk.say(&format!("  {when}: {command}")),
        StudyEvent::Said(said) => talk.detail(said.trim_start_matches('\n')),
        StudyEvent::Resetting(task) => talk.detail(&format!("  {task}: the data is brought to its state")),
        StudyEvent::Measured(task, load_s, record) => {
            let words = dyno_report::study::measured_words(*load_s, record.as_deref());
            talk.say(&format!("  {task}: {words}"));
        }
        StudyEvent::Reverting(name, why) => talk.say(&format!("  putting {name} back: {why}")),
        StudyEvent::Reverted(name) => {
            talk.say(&format!("  {name}: the commands that restore it completed without error"));
        }
        StudyEvent::Failed(name, why) => {
            talk.error(&format!("{name}: {why}"), "this leg has no figures; the study goes on");
        }
        StudyEvent::EndedLeft(processes) => {
            talk.say(&format!("ended {processes} processes of a command that an earlier process of the study had left running"));
        }
        StudyEvent::DataStays(why) => {
            talk.say(&format!("warning: the study's data could not be dropped: {why}"));
        }
    }
}

/// A command that will run.
pub(crate) fn planned(name: &str, command: &str) -> String {
    format!("{name} runs: {command}")
}

/// Says what happens in a load, but for its progress.
pub(crate) fn load(event: &LoadEvent, talk: &Talk) {
    match event {
        LoadEvent::Target(url) => talk.say(&format!("loading {url}")),
        LoadEvent::Ephemeral => talk.say(
            "this target lives in memory: `dyno run` loads it itself, and nothing of this load will stay",
        ),
        LoadEvent::Damaged(error) => {
            talk.say(&format!("{error}: removing what Dyno made, and loading anew"));
        }
        LoadEvent::Worn(note) => talk.say(note),
        LoadEvent::Retried(error, retry, retries) => {
            talk.say(&format!("the database took work back: {error}; retry {retry} of {retries}"));
        }
        LoadEvent::Done(report) => talk.say(&loaded(report)),
        LoadEvent::SetUp(done) => talk.say(&set_up(done)),
        LoadEvent::Phase(..) | LoadEvent::Advance(..) | LoadEvent::Over => {}
    }
}

fn set_up(done: &SetUp) -> String {
    let SetUp { name, tables, already, rows_written, statements, seconds, conditions, conditions_s } = done;
    let statements = match statements {
        0 => String::new(),
        1 => "1 statement".to_owned(),
        many => format!("{} statements", count(*many as u64)),
    };
    let rows = match tables.len() {
        0 => String::new(),
        1 => format!("{} rows into 1 table", count(*rows_written)),
        many => format!("{} rows into {many} tables", count(*rows_written)),
    };
    let parts: Vec<String> = [rows, statements].into_iter().filter(|part| !part.is_empty()).collect();
    match (already, parts.is_empty()) {
        (true, _) => format!("{name} is there already: no rows were written"),
        (false, true) => format!("{name} has nothing to set up: it works on what is there"),
        (false, false) => {
            let held = match conditions {
                0 => String::new(),
                many => {
                    let all = if *many == 1 {
                        "the condition holds".to_owned()
                    } else {
                        format!("all {many} conditions hold")
                    };
                    format!("; {all}, asked in {} s", fixed(*conditions_s, 1))
                }
            };
            format!("{name} is set up: {} in {} s{held}", parts.join(", "), fixed(*seconds, 1))
        }
    }
}

fn loaded(report: &LoadReport) -> String {
    if report.already {
        return "the data is there already: no rows were written".to_owned();
    }
    let mb = report.bytes_written as f64 / 1e6;
    format!(
        "loaded {} rows, {} MB in {} s ({} MB/s), index and verification included",
        count(report.rows_written),
        fixed(mb, 0),
        fixed(report.seconds, 1),
        fixed(mb / report.seconds.max(1e-9), 0),
    )
}

fn proof(event: &ProofEvent, talk: &Talk) {
    match event {
        ProofEvent::OnlyUpdates => {
            talk.say("the plan only reads (workload.update_pct = 0); the proof does nothing but updates");
        }
        ProofEvent::NoAccount(url, why) => talk.say(&format!("{url} keeps no account: {why}")),
        ProofEvent::Reading => talk.say("reading the version of every row"),
        ProofEvent::ReadingAgain(Some(run)) => {
            talk.say(&format!("stored as {run}; reading every row again"));
        }
        ProofEvent::ReadingAgain(None) => talk.say("reading every row again"),
        ProofEvent::Killing => talk.say("killing the server"),
        ProofEvent::Restarting => talk.say("starting the server again"),
        ProofEvent::Waiting => talk.say("waiting for the server"),
        ProofEvent::Command(command) => talk.detail(&format!("sh -c {command:?}")),
        ProofEvent::CommandEnded(name, status) => {
            talk.say(&format!("warning: the {name} command ended with {status}"));
        }
    }
}

fn dropped(holdings: &Holdings, talk: &Talk) {
    let Holdings { url, items, left } = holdings;
    match items.len() {
        0 => talk.say(&format!("{url} holds nothing of Dyno's")),
        objects => talk.say(&format!("removed {objects} objects from {url}")),
    }
    for item in items {
        talk.detail(&format!("removed {} {}", item.kind, item.name));
    }
    for item in left {
        talk.say(&format!("left {} {}: {}", item.kind, item.name, why_left(item)));
    }
}

/// Why a drop leaves something.
pub(crate) fn why_left(item: &DropItem) -> &'static str {
    match item.kind.as_str() {
        "schema" | "file" => "it was there before the load, or holds what Dyno did not make",
        _ => "it is not in the list of what Dyno made, or was made anew since",
    }
}

fn warning(event: &Warning, talk: &Talk) {
    match event {
        Warning::NotKept(why) => talk.say(&format!(
            "warning: what is measured cannot be kept while the run lasts: {why}; it is tried again until the run ends"
        )),
        Warning::SeriesNotWhole(why) => {
            talk.say(&format!("warning: of the full series not all could be stored: {why}"));
        }
        Warning::NotLearned(name, why) => {
            talk.say(&format!("warning: what {name} does to the database could not be learned: {why}"));
        }
        Warning::StoredElsewhere(error, path) => stored_elsewhere(error, path, talk),
        Warning::NoOwnReport(error) => {
            talk.say(&format!("warning: the database's own report cannot be had: {error}"));
        }
        Warning::OwnReportNotWritten(error, name, path) => talk.say(&format!(
            "warning: the report of {name} cannot be written to {}: {error}",
            path.display()
        )),
        Warning::RowsLeft(why) => {
            let why = why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            talk.say(&format!(
                "rows that this run inserted are still there{why}; the next run removes them before it begins"
            ));
        }
        Warning::OpenSecret(words) => talk.say(&format!("warning: {words}")),
        Warning::ConsentNotKept(error, path) => talk.say(&format!(
            "that these commands are allowed cannot be kept in {}: {error}",
            path.display()
        )),
        Warning::SidesDiffer => talk.say(
            "warning: the sides have different data, which is loaded at every turn where both lie in one target",
        ),
    }
}

fn stored_elsewhere(error: &str, path: &Path, talk: &Talk) {
    let path = path.display();
    talk.error(
        &format!("the record could not be stored in the repository: {error}"),
        &format!("it was written to {path} instead; when there is room, `dyno import {path}` stores it"),
    );
}

/// A setting of a point: `update_pct 20`.
pub(crate) fn setting(key: &str, value: &str) -> String {
    format!("{} {value}", key.rsplit_once('.').map_or(key, |(_, own)| own))
}

/// One run's result, and what the audit says of it.
pub(crate) fn card(record: &RunRecord, style: &Style) -> String {
    let card = dyno_report::result_card(&ResultRow::from(record), style);
    let answers = Answers::of_run(record);
    // A run without a result says so itself.
    let answer = match answers.curves.is_empty() || !Answers::is_of(record) {
        true => String::new(),
        false => format!("{}\n", dyno_report::answer_text(&answers, style)),
    };
    let placed =
        dyno_report::placement_words(record).map_or_else(String::new, |words| format!("  {words}\n"));
    let host = dyno_report::host_words(record).map_or_else(String::new, |words| format!("  {words}\n"));
    let caveats: String = dyno_report::caveats(record, style);
    let placed = format!("{caveats}{host}{placed}");
    let targets = dyno_report::targets_table(record, style);
    let targets = if targets.is_empty() { targets } else { format!("\n{targets}") };
    let beside = dyno_report::beside::table(record, style);
    let beside = if beside.is_empty() { beside } else { format!("\n{beside}") };
    let own = dyno_report::own::text(record, style);
    let own = if own.is_empty() { own } else { format!("\n{own}") };
    let loaded = dyno_report::loaded_text(record, style);
    let loaded = if loaded.is_empty() { loaded } else { format!("\n{loaded}") };
    let phases = dyno_report::phases_text(record, style);
    let phases = if phases.is_empty() { phases } else { format!("\n{phases}") };
    format!(
        "{answer}{card}{placed}{loaded}{targets}{beside}{own}{phases}\n{}",
        dyno_report::audit_words(&record.audit, style)
    )
}

/// Lines that a sentence may take.
const LINES_MAX: usize = 12;

/// Shows a sentence, broken into lines that fit and each set in by `indent` columns.
pub(crate) fn show(text: &str, indent: usize, talk: &Talk) -> std::io::Result<()> {
    let columns = talk.style().columns() - indent;
    let lines = dyno_report::text::wrap(text, columns, LINES_MAX);
    talk.show(&lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect::<String>())
}
