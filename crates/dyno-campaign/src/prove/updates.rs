//! `dyno prove updates`: what the rows say of a run's updates, held against what was acknowledged.
//!
//! Targets with data of their own have an account each. Where several reach the same data there is one account of what all of
//! them acknowledged, and the rows are read through the one that the data was loaded through.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_drive::prove::{Account, Book, Start, Witness};
use dyno_engine::{Target, Work};
use dyno_plan::DataSpec;
use dyno_record::{RunRecord, Status};
use dyno_report::number;
use serde_json::{Value, json};

use super::account;
use crate::cli::Common;
use crate::commands::ready::{Ready, store};
use crate::exit::Exit;
use crate::progress::RunProgress;
use crate::talk::Talk;
use crate::targets::Reached;
use crate::tidy;

/// The longest wait for rows to show what was acknowledged elsewhere, where several targets reach the same data.
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// The pause between two readings of all rows.
const READ_EVERY: Duration = Duration::from_millis(500);

pub(super) fn run(common: &Common, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = super::plan::plan_with_updates(common, talk)?;
    let ready = Ready::new(common, plan, Work::Prove, talk, |_| Ok(()))?;
    talk.say("reading the version of every row");
    let kept = open(&ready, talk)?;
    let begun = ready.begin(talk)?;
    let progress = RunProgress::new(talk);
    let driven = ready.drive(&begun, witnesses(&ready, &kept), &progress, talk);
    progress.finish();
    let (mut record, left) = driven?;
    dyno_analyze::judge(&mut record);
    store(&ready.repository, &record, talk)?;
    tidy::up(left, &ready.cancel, talk);
    talk.say(&format!("stored as {}; reading every row again", record.id));
    let proofs: anyhow::Result<Vec<Proof>> =
        kept.iter().map(|kept| kept.close(&ready, begun.run_stamp, &record)).collect();
    conclude(&record, &proofs?, talk)
}

/// An account that is kept during the run.
struct Kept<'a> {
    /// The target that the rows are read through.
    reached: &'a Reached,
    /// The place of the only target that it is about; absent where it is about all of them.
    at: Option<usize>,
    start: Start,
    book: Arc<Book>,
}

/// Opens the accounts: what all rows hold before the run.
fn open<'a>(ready: &'a Ready, talk: &Talk) -> anyhow::Result<Vec<Kept<'a>>> {
    let open = |reached: &'a Reached, spec: &DataSpec, at| -> anyhow::Result<Kept<'a>> {
        let start = reached.named(Start::read(reached.target.as_ref(), spec).map_err(Into::into))?;
        let book = Arc::new(Book::new(spec, ready.plan.workload.work_unit));
        Ok(Kept { reached, at, start, book })
    };
    let all = ready.targets.all.iter().zip(&ready.specs).enumerate();
    let mut kept = Vec::new();
    for (at, (reached, spec)) in all {
        match &reached.reads_only {
            None if ready.targets.is_shared() => return Ok(vec![open(reached, spec, None)?]),
            None => kept.push(open(reached, spec, Some(at))?),
            Some(why) if !ready.targets.is_shared() => {
                talk.say(&format!("{} keeps no account: {why}", reached.target.url()));
            }
            Some(_) => {}
        }
    }
    Ok(kept)
}

/// The plan's targets, each behind a witness that writes into the book of its account.
fn witnesses(ready: &Ready, kept: &[Kept<'_>]) -> Vec<Arc<dyn Target>> {
    let one = |(at, reached): (usize, &Reached)| -> Arc<dyn Target> {
        let target = Arc::clone(&reached.target);
        match kept.iter().find(|kept| kept.at.is_none_or(|own| own == at)) {
            Some(kept) => Arc::new(Witness::new(target, Arc::clone(&kept.book))),
            None => target,
        }
    };
    ready.targets.all.iter().enumerate().map(one).collect()
}

/// A closed account.
struct Proof {
    /// The target, where it is about one of several.
    of: Option<String>,
    account: Account,
    /// Rows that the run's record says were updated, where it does.
    recorded: Option<u64>,
}

impl Kept<'_> {
    /// Reads all rows again, and holds them against what was acknowledged.
    fn close(&self, ready: &Ready, run_stamp: u64, record: &RunRecord) -> anyhow::Result<Proof> {
        let until = Instant::now() + SEEN_WITHIN;
        let read = || {
            let compared = self.start.compare(self.reached.target.as_ref(), &self.book, run_stamp);
            self.reached.named(compared.map_err(Into::into))
        };
        let mut account = read()?;
        // What another target has acknowledged arrives in its own time, and no engine tells from outside when it has: so the
        // rows are read again, for a bounded time. What is lost never arrives.
        while ready.targets.is_shared() && !account.is_whole() && Instant::now() < until {
            std::thread::sleep(READ_EVERY);
            account = read()?;
        }
        let own = |at: usize| record.targets.get(at)?.own.as_ref()?.whole.as_ref();
        let several = ready.targets.is_several();
        let whole = match self.at {
            Some(at) if several => own(at),
            _ => record.whole.as_ref(),
        };
        let of = self.at.filter(|_| several);
        Ok(Proof {
            of: of.map(|at| format!("target {} ({})", at + 1, self.reached.target.url())),
            account,
            recorded: whole.map(|whole| whole.rows_updated),
        })
    }
}

impl Proof {
    /// Every acknowledged update is in its rows once, the record says so too, and there was something to prove.
    fn holds(&self) -> bool {
        self.account.is_whole()
            && self.account.commits_acknowledged > 0
            && self.recorded.is_none_or(|recorded| recorded == self.account.rows_acknowledged)
    }

    /// What is not as it must be.
    fn fault(&self) -> String {
        let Account { commits_acknowledged: commits, rows_acknowledged: rows, .. } = self.account;
        let (commits, rows) = (number::count(commits), number::count(rows));
        match self.account.commits_acknowledged {
            0 => "no update was acknowledged, so there is nothing to prove".to_owned(),
            _ => format!("what the rows hold is not what {commits} acknowledged commits did to {rows} rows"),
        }
    }

    fn as_json(&self) -> Value {
        json!({
            "target": self.of, "proved": self.holds(), "recorded_rows_updated": self.recorded,
            "account": account::as_json(&self.account),
        })
    }
}

fn conclude(record: &RunRecord, proofs: &[Proof], talk: &Talk) -> anyhow::Result<Exit> {
    let is_proved = !proofs.is_empty() && proofs.iter().all(Proof::holds);
    let words = verdict(proofs);
    let mut proof = json!({
        "proof": "updates", "proved": is_proved, "verdict": words, "run": record.id, "status": record.status,
        "recorded_rows_updated": record.whole.as_ref().map(|whole| whole.rows_updated),
    });
    match proofs {
        [only] if only.of.is_none() => proof["account"] = account::as_json(&only.account),
        several => proof["targets"] = several.iter().map(Proof::as_json).collect(),
    }
    talk.json(&proof)?;
    for Proof { of, account, recorded } in proofs {
        if let Some(of) = of {
            talk.show(&format!("{of}\n"))?;
        }
        talk.show(&account::table(account, *recorded, &talk.style()))?;
        talk.show("\n")?;
    }
    crate::commands::words::show_words(&words, 0, talk)?;
    for reason in &record.reasons {
        talk.say(&format!("the run itself is {}: {reason}", record.status.name()));
    }
    Ok(match record.status {
        Status::Failed => Exit::Failed,
        Status::Interrupted => Exit::Interrupted,
        Status::Valid | Status::Imported | Status::Invalid if is_proved => Exit::Done,
        Status::Valid | Status::Imported | Status::Invalid => Exit::Invalid,
    })
}

/// One sentence about all accounts: the first that does not hold, or what all of them hold.
fn verdict(proofs: &[Proof]) -> String {
    if let Some(broken) = proofs.iter().find(|proof| !proof.holds()) {
        let of = broken.of.as_ref().map(|of| format!("{of}: ")).unwrap_or_default();
        return format!("not proved: {of}{}", broken.fault());
    }
    let sum = |count: fn(&Account) -> u64| proofs.iter().map(|proof| count(&proof.account)).sum::<u64>();
    let bounds = match sum(|account| account.commits_unknown) {
        0 => String::new(),
        unknown => format!(
            " ({} more were cut off by errors and may be there or not: of their rows {} are)",
            number::count(unknown),
            number::count(sum(|account| account.rows_unknown_found))
        ),
    };
    let of = match proofs.len() {
        1 => String::new(),
        targets => format!("of {targets} targets, each held against its own rows, "),
    };
    format!(
        "proved: {of}each of {} row updates in {} acknowledged commits is in its row once, none is lost and none is there \
         twice{bounds}",
        number::count(sum(|account| account.rows_acknowledged)),
        number::count(sum(|account| account.commits_acknowledged)),
    )
}
