//! `dyno prove updates`: what the rows say of a run's updates, held against what was acknowledged.

use std::sync::Arc;

use dyno_drive::prove::{Account, Book, Start, Witness};
use dyno_record::{RunRecord, Status};
use dyno_report::number;
use dyno_target::Work;
use serde_json::json;

use super::account;
use crate::cli::Common;
use crate::commands::ready::{Ready, store};
use crate::exit::Exit;
use crate::progress::RunProgress;
use crate::talk::Talk;

pub(super) fn run(common: &Common, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = super::plan_with_updates(common, talk)?;
    let ready = Ready::new(common, plan, Work::Prove, talk, |_| Ok(()))?;
    talk.say("reading the version of every row");
    let start = Start::read(ready.target().as_ref(), ready.spec())?;
    let book = Arc::new(Book::new(ready.spec(), ready.plan.workload.work_unit));
    let witness = Arc::new(Witness::new(Arc::clone(ready.target()), Arc::clone(&book)));
    let begun = ready.begin(talk)?;
    let progress = RunProgress::new(talk);
    let driven = ready.drive(&begun, Some(witness), &progress, talk);
    progress.finish();
    let mut record = driven?;
    dyno_analyze::judge(&mut record);
    store(&ready.repository, &record, talk)?;
    talk.say(&format!("stored as {}; reading every row again", record.id));
    let account = start.compare(ready.target().as_ref(), &book, begun.run_stamp)?;
    conclude(&record, &account, talk)
}

fn conclude(record: &RunRecord, account: &Account, talk: &Talk) -> anyhow::Result<Exit> {
    let recorded = record.whole.as_ref().map(|whole| whole.rows_updated);
    let is_proved = is_proved(account, recorded);
    let words = verdict(account, is_proved);
    talk.json(&json!({
        "proof": "updates", "proved": is_proved, "verdict": words, "run": record.id, "status": record.status,
        "recorded_rows_updated": recorded, "account": account::as_json(account),
    }))?;
    talk.show(&account::table(account, recorded, &talk.style()))?;
    talk.show("\n")?;
    super::show_words(&words, 0, talk)?;
    for reason in &record.reasons {
        talk.say(&format!("the run itself is {}: {reason}", record.status.name()));
    }
    Ok(match record.status {
        Status::Failed => Exit::Failed,
        Status::Interrupted => Exit::Interrupted,
        Status::Valid | Status::Invalid if is_proved => Exit::Done,
        Status::Valid | Status::Invalid => Exit::Invalid,
    })
}

/// Every acknowledged update is in its rows once, the record says so too, and there was something to prove.
fn is_proved(account: &Account, recorded: Option<u64>) -> bool {
    account.is_whole()
        && account.commits_acknowledged > 0
        && recorded.is_none_or(|recorded| recorded == account.rows_acknowledged)
}

fn verdict(account: &Account, is_proved: bool) -> String {
    let commits = number::count(account.commits_acknowledged);
    let rows = number::count(account.rows_acknowledged);
    if account.commits_acknowledged == 0 {
        return "not proved: no update was acknowledged, so there is nothing to prove".to_owned();
    }
    if !is_proved {
        return format!(
            "not proved: what the rows hold is not what {commits} acknowledged commits did to {rows} rows"
        );
    }
    let bounds = match account.commits_unknown {
        0 => String::new(),
        unknown => format!(
            " ({} more were cut off by errors and may be there or not: of their rows {} are)",
            number::count(unknown),
            number::count(account.rows_unknown_found)
        ),
    };
    format!(
        "proved: each of {rows} row updates in {commits} acknowledged commits is in its row once, \
         none is lost and none is there twice{bounds}"
    )
}
