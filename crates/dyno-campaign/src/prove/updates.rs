//! What the rows say of a run's updates, held against what was acknowledged.
//!
//! Targets with data of their own have an account each. Where several reach the same data there is one account of what all of
//! them acknowledged, and the rows are read through the one that the data was loaded through.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_analyze::number;
use dyno_drive::prove::{Account, Book, Start};
use dyno_engine::Work;
use dyno_plan::{DataSpec, Plan};
use dyno_record::RunRecord;

use super::with_updates;
use crate::error::Error;
use crate::event::{Event, ProofEvent};
use crate::hooks::Watched;
use crate::lead::Lead;
use crate::measure::run_stamp;
use crate::ready::Ready;
use crate::room::Loading;
use crate::targets::Reached;

/// The longest wait for rows to show what was acknowledged elsewhere, where several targets reach the same data.
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// The pause between two readings of all rows.
const READ_EVERY: Duration = Duration::from_millis(500);

/// What a run's updates have come to.
#[derive(Debug, Clone)]
pub struct Updates {
    /// The run.
    pub record: RunRecord,
    /// Its accounts.
    pub proofs: Vec<Proof>,
}

/// Does a run of `plan`, and holds every row against what the run was told of its updates.
///
/// # Errors
/// The plan or the target is not fit for a run, or its rows cannot be read.
pub fn updates(lead: &Lead<'_>, plan: Plan) -> Result<Updates, Error> {
    let plan = with_updates(lead, plan)?;
    let ready = Ready::new(lead, plan, Work::Prove, Loading::Never, |_| Ok(()))?;
    lead.tell(Event::Proof(ProofEvent::Reading));
    let kept = open(&ready)?;
    let begun = ready.begin(None)?;
    let watch = Watched { lead, hooked: None };
    let (record, left) = ready.drive(&begun, books(&ready, &kept), &watch)?;
    let record = ready.keep(record, left)?;
    lead.tell(Event::Proof(ProofEvent::ReadingAgain(Some(record.id.clone()))));
    let run_stamp = run_stamp(&begun.id);
    let proofs: Result<Vec<Proof>, Error> =
        kept.iter().map(|kept| kept.close(&ready, run_stamp, &record)).collect();
    Ok(Updates { proofs: proofs?, record })
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
fn open<'a>(ready: &'a Ready<'_>) -> Result<Vec<Kept<'a>>, Error> {
    let open = |reached: &'a Reached, spec: &DataSpec, at| -> Result<Kept<'a>, Error> {
        let start = reached.named(Start::read(reached.target.as_ref(), spec))?;
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
                let event = ProofEvent::NoAccount(reached.target.url(), why.clone());
                ready.lead.tell(Event::Proof(event));
            }
            Some(_) => {}
        }
    }
    Ok(kept)
}

/// The book of each target's account, in the order of the plan.
fn books(ready: &Ready<'_>, kept: &[Kept<'_>]) -> Vec<Option<Arc<Book>>> {
    let of = |at: usize| kept.iter().find(|kept| kept.at.is_none_or(|own| own == at));
    (0..ready.targets.all.len()).map(|at| Some(Arc::clone(&of(at)?.book))).collect()
}

/// A closed account.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The target, where it is about one of several.
    pub of: Option<String>,
    /// What the rows hold, and what was acknowledged.
    pub account: Account,
    /// Rows that the run's record says were updated, where it does.
    pub recorded: Option<u64>,
}

impl Kept<'_> {
    /// Reads all rows again, and holds them against what was acknowledged.
    fn close(&self, ready: &Ready<'_>, run_stamp: u64, record: &RunRecord) -> Result<Proof, Error> {
        let until = Instant::now() + SEEN_WITHIN;
        let read = || {
            let compared = self.start.compare(self.reached.target.as_ref(), &self.book, run_stamp);
            self.reached.named(compared)
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
    pub fn holds(&self) -> bool {
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
}

impl Updates {
    /// Whether every account holds.
    pub fn is_proved(&self) -> bool {
        !self.proofs.is_empty() && self.proofs.iter().all(Proof::holds)
    }

    /// One sentence about all accounts: the first that does not hold, or what all of them hold.
    pub fn verdict(&self) -> String {
        let proofs = &self.proofs;
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
}
