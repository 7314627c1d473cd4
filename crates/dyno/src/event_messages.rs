//! Converts events of a campaign to messages.

use std::path::Path;

use dyno_analyze::CurveSummaries;
use dyno_analyze::compare::rank;
use dyno_campaign::{
    CampaignEvent, HookEvent, LoadEvent, ProofEvent, StudyEvent, TargetObjects, Warning, WorkloadSetup,
};
use dyno_engine::{DropItem, LoadReport};
use dyno_record::RunRecord;
use dyno_report::number::{count, fixed};
use dyno_report::{ResultRow, Style};

use crate::console::Console;

/// Prints the event, if it has a text.
pub(crate) fn event(event: &CampaignEvent, talk: &Console) {
    match event {
        CampaignEvent::Locked(Some(caveat)) => talk.say(&format!("warning: {caveat}")),
        CampaignEvent::Locked(None) => talk.detail("the target is locked against other Dyno processes"),
        CampaignEvent::Writes(url, ways) => {
            talk.say(&format!("this run changes data of {url} that Dyno did not create:"));
            ways.iter().for_each(|way| talk.say(&format!("  {way}")));
        }
        CampaignEvent::LookingAtData => talk.detail("inspecting the data"),
        CampaignEvent::Learning => talk.detail("measuring the cost of each transaction on one session"),
        CampaignEvent::EmptyingTable => talk.detail("recreating the table to be loaded"),
        CampaignEvent::SettlingLoad => {
            talk.detail("waiting until the loaded data is on disk, and counting it");
        }
        CampaignEvent::AskingInvariants => talk.detail("checking the invariants"),
        CampaignEvent::WaitingForData => talk.detail("waiting until all targets see the data"),
        CampaignEvent::Removed(rows) => {
            talk.say(&format!("removed {rows} rows that an earlier run inserted and did not remove"));
        }
        CampaignEvent::DroppingData => talk.detail("dropping data of another block size"),
        CampaignEvent::CheckingDeeply => {
            talk.say("loading a small schema, running every operation on it, and dropping it");
        }
        CampaignEvent::AcceptanceStep(number, title) => talk.say(&format!("step {number}: {title}")),
        CampaignEvent::Hook(event) => hook(event, talk),
        CampaignEvent::RunBegun { id, kind, targets, is_part } => {
            let words = format!("{} {id} on {targets}", kind.name());
            if *is_part { talk.detail(&words) } else { talk.say(&words) }
        }
        CampaignEvent::Tidying => {
            talk.say("the run is stored; removing the rows that it inserted (Ctrl-C leaves them)");
        }
        CampaignEvent::OwnReport(name, path) => {
            let file =
                path.as_ref().map_or_else(String::new, |path| format!(", saved in {}", path.display()));
            talk.say(&format!("this run lies between {name}{file}"));
        }
        CampaignEvent::Judged(kept, measured) => {
            talk.say(&format!("  {}: {}", if *kept { "met" } else { "not met" }, measured.join(", ")));
        }
        CampaignEvent::Proof(event) => proof(event, talk),
        CampaignEvent::Dropped(holdings) => say_dropped(holdings, talk),
        CampaignEvent::Study(event) => study(event, talk),
        CampaignEvent::Warning(event) => warning(event, talk),
        // A terminal shows these in another form.
        CampaignEvent::Reached
        | CampaignEvent::Load(_)
        | CampaignEvent::Phase(_)
        | CampaignEvent::RunOver
        | CampaignEvent::Stored(_) => {}
        CampaignEvent::Seen(_) => {}
        CampaignEvent::Paused(true) => talk.say("paused: no run begins until the campaign is resumed"),
        CampaignEvent::Paused(false) => talk.detail("resumed"),
        CampaignEvent::Begun(_) | CampaignEvent::Next(_) | CampaignEvent::Ended(_) => {}
    }
}

fn hook(event: &HookEvent, talk: &Console) {
    match event {
        HookEvent::Planned(name, command) => talk.say(&planned_command(&format!("hooks.{name}"), command)),
        HookEvent::Started(name, command) => talk.detail(&format!("hooks.{name}: {command}")),
        HookEvent::Said(name, output) => talk.detail(&format!("hooks.{name} says{output}")),
        HookEvent::FailedAfterRun(error) => talk.error(error, "the previous run is stored and not affected"),
        HookEvent::FailedAtEnd(error) => talk.error(error, "the previous runs are stored and not affected"),
    }
}

/// Prints an event of a study.
fn study(event: &StudyEvent, talk: &Console) {
    match event {
        StudyEvent::Begun { id, folder, legs: (done, all) } => {
            let so_far =
                if *done > 0 { format!(", {done} of {all} legs are done") } else { format!(", {all} legs") };
            talk.say(&format!("{id}{so_far}; its journal is in {}", folder.display()));
            talk.say(
                "Ctrl-C stops the study and restores everything; after a crash, `dyno study resume` restores \
                    first",
            );
        }
        StudyEvent::Leg { number, of, variant, repeat, left_s } => {
            let time =
                left_s.map_or_else(String::new, |left| format!("  {}", dyno_report::study::left_words(left)));
            talk.say(&format!("leg {number} of {of}: {variant} (repeat {repeat}){time}"));
        }
        StudyEvent::Command(when, command) => talk.say(&format!("  {when}: {command}")),
        StudyEvent::Said(said) => talk.detail(said.trim_start_matches('\n')),
        StudyEvent::Resetting(task) => talk.detail(&format!("  {task}: restoring the data's initial state")),
        StudyEvent::Measured(task, load_s, record) => {
            let words = dyno_report::study::measured_words(*load_s, record.as_deref());
            talk.say(&format!("  {task}: {words}"));
        }
        StudyEvent::Reverting(name, why) => talk.say(&format!("  restoring {name}: {why}")),
        StudyEvent::Reverted(name) => {
            talk.say(&format!("  {name}: the commands that restore it completed without error"));
        }
        StudyEvent::Failed(name, why) => {
            talk.error(&format!("{name}: {why}"), "this leg has no figures; the study continues");
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
pub(crate) fn planned_command(name: &str, command: &str) -> String {
    format!("{name} runs: {command}")
}

/// Prints an event of a load, except its progress.
pub(crate) fn load(event: &LoadEvent, talk: &Console) {
    match event {
        LoadEvent::Target(url) => talk.say(&format!("loading {url}")),
        LoadEvent::Ephemeral => {
            talk.say("this target is in memory: `dyno run` loads it itself, and this load is discarded");
        }
        LoadEvent::Damaged(error) => {
            talk.say(&format!("{error}: removing Dyno's data and loading again"));
        }
        LoadEvent::Worn(note) => talk.say(note),
        LoadEvent::Retried(error, retry, retries) => {
            talk.say(&format!("the database rolled back work: {error}; retry {retry} of {retries}"));
        }
        LoadEvent::Done(report) => talk.say(&loaded_words(report)),
        LoadEvent::SetUp(done) => talk.say(&set_up_words(done)),
        LoadEvent::Phase(..) | LoadEvent::Advance(..) | LoadEvent::Over => {}
    }
}

fn set_up_words(setup_report: &WorkloadSetup) -> String {
    let WorkloadSetup { name, tables, already, rows_written, statements, seconds, conditions, conditions_s } =
        setup_report;
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
        (true, _) => format!("{name} already exists: no rows were written"),
        (false, true) => format!("{name} has nothing to set up: it uses existing data"),
        (false, false) => {
            let held = match conditions {
                0 => String::new(),
                many => {
                    let all = if *many == 1 {
                        "the condition holds".to_owned()
                    } else {
                        format!("all {many} conditions hold")
                    };
                    format!("; {all}, checked in {} s", fixed(*conditions_s, 1))
                }
            };
            format!("{name} is set up: {} in {} s{held}", parts.join(", "), fixed(*seconds, 1))
        }
    }
}

fn loaded_words(report: &LoadReport) -> String {
    if report.already {
        return "the data already exists: no rows were written".to_owned();
    }
    let mb = report.bytes_written as f64 / 1e6;
    format!(
        "loaded {} rows ({} MB of row data) in {} s ({} MB/s), including index build and verification",
        count(report.rows_written),
        fixed(mb, 0),
        fixed(report.seconds, 1),
        fixed(mb / report.seconds.max(1e-9), 0),
    )
}

fn proof(event: &ProofEvent, talk: &Console) {
    match event {
        ProofEvent::OnlyUpdates => {
            talk.say("the plan only reads (workload.update_pct = 0); the proof runs updates only");
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

fn say_dropped(holdings: &TargetObjects, talk: &Console) {
    let TargetObjects { url, items, left } = holdings;
    match items.len() {
        0 => talk.say(&format!("{url} contains nothing that Dyno created")),
        objects => talk.say(&format!("removed {objects} objects from {url}")),
    }
    for item in items {
        talk.detail(&format!("removed {} {}", item.kind, item.name));
    }
    for item in left {
        talk.say(&format!("left {} {}: {}", item.kind, item.name, reason_kept(item)));
    }
}

/// Why a drop leaves an object.
pub(crate) fn reason_kept(item: &DropItem) -> &'static str {
    match item.kind.as_str() {
        "schema" | "file" => "it existed before the load, or contains objects that Dyno did not create",
        _ => "it is not in the list of objects that Dyno created, or was recreated since",
    }
}

fn warning(event: &Warning, talk: &Console) {
    match event {
        Warning::NotKept(why) => talk.say(&format!(
            "warning: measured data cannot be stored during the run: {why}; Dyno retries until the run ends"
        )),
        Warning::SeriesNotWhole(why) => {
            talk.say(&format!("warning: the full series could not be stored completely: {why}"));
        }
        Warning::NotLearned(name, why) => {
            talk.say(&format!(
                "warning: the costs of the transactions of {name} could not be measured: {why}"
            ));
        }
        Warning::StoredElsewhere(error, path) => stored_elsewhere(error, path, talk),
        Warning::NoOwnReport(error) => {
            talk.say(&format!("warning: the database's own report is not available: {error}"));
        }
        Warning::OwnReportNotWritten(error, name, path) => talk
            .say(&format!("warning: the report of {name} cannot be written to {}: {error}", path.display())),
        Warning::RowsLeft(why) => {
            let why = why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            talk.say(&format!(
                "rows that this run inserted remain{why}; the next run removes them before it begins"
            ));
        }
        Warning::OpenSecret(words) => talk.say(&format!("warning: {words}")),
        Warning::ConsentNotKept(error, path) => talk
            .say(&format!("the consent to these commands cannot be stored in {}: {error}", path.display())),
        Warning::SidesDiffer => talk.say(
            "warning: the sides have different data; if both are in one target, it is reloaded at each \
                change of side",
        ),
        Warning::TooFewPairs(pairs) => {
            let (runs, significance) = (*pairs as usize, dyno_analyze::compare::SIGNIFICANCE);
            talk.say(&format!(
                "warning: {pairs} + {pairs} runs cannot be significant (least p = {}); use --pairs {} or more",
                dyno_report::number::fixed(rank::least_p(runs, runs), 2),
                rank::fewest_pairs(significance)
            ));
        }
    }
}

fn stored_elsewhere(error: &str, path: &Path, talk: &Console) {
    let path = path.display();
    talk.error(
        &format!("the record could not be stored in the repository: {error}"),
        &format!(
            "it was written to {path} instead; when there is room, `dyno import results {path}` stores it"
        ),
    );
}

/// A setting of a point: `update_pct 20`.
pub(crate) fn setting(key: &str, value: &str) -> String {
    format!("{} {value}", key.rsplit_once('.').map_or(key, |(_, own)| own))
}

/// One run's result and audit findings.
pub(crate) fn card(record: &RunRecord, style: &Style) -> String {
    let card = dyno_report::result_card(&ResultRow::from(record), style);
    let answers = CurveSummaries::of_run(record);
    // A run without a result states that itself.
    let answer = match answers.curves.is_empty() || !CurveSummaries::has_summary(record) {
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
    let beside = dyno_report::concurrent::table(record, style);
    let beside = if beside.is_empty() { beside } else { format!("\n{beside}") };
    let workload_text = dyno_report::custom_workload::text(record, style);
    let workload_block = if workload_text.is_empty() { workload_text } else { format!("\n{workload_text}") };
    let loaded = dyno_report::loaded_text(record, style);
    let loaded = if loaded.is_empty() { loaded } else { format!("\n{loaded}") };
    let phases = dyno_report::phases_text(record, style);
    let phases = if phases.is_empty() { phases } else { format!("\n{phases}") };
    format!(
        "{answer}{card}{placed}{loaded}{targets}{beside}{workload_block}{phases}\n{}",
        dyno_report::audit_words(&record.audit, style)
    )
}

/// Maximum lines of a sentence.
const LINES_MAX: usize = 12;

/// Prints a sentence, wrapped to fit and indented by `indent` columns.
pub(crate) fn show(text: &str, indent: usize, talk: &Console) -> std::io::Result<()> {
    let columns = talk.style().columns() - indent;
    let lines = dyno_report::text::wrap(text, columns, LINES_MAX);
    talk.show(&lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect::<String>())
}
