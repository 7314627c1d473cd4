//! Proves a run's updates: compares all rows with what the server acknowledged.
//!
//! Targets with separate data have a ledger each. If several targets reach the same data, one ledger covers
//! all of them. Its rows are read through the target that the data was loaded through.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_analyze::number;
use dyno_drive::AckLedger;
use dyno_engine::LockPurpose;
use dyno_plan::{DataSpec, Plan};
use dyno_prove::{RowComparison, RowVersionBaseline};
use dyno_record::RunRecord;

use super::with_updates;
use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, ProofEvent};
use crate::hooks::HookedRunWatch;
use crate::measure::run_stamp;
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;
use crate::targets::ReachedTarget;

/// Longest wait until rows show what another target of the same data acknowledged.
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// The pause between two readings of all rows.
const READ_EVERY: Duration = Duration::from_millis(500);

/// The result of a proof of updates.
#[derive(Debug, Clone)]
pub struct Updates {
    /// The record of the run.
    pub record: RunRecord,
    /// One proof for each ledger.
    pub proofs: Vec<UpdateProof>,
}

/// Executes a run of `plan`, and compares every row with the acknowledged updates.
///
/// # Errors
/// The plan or the target is unsuitable for a run, or its rows cannot be read.
pub fn updates(ctx: &CampaignContext<'_>, plan: Plan) -> Result<Updates, Error> {
    let plan = with_updates(ctx, plan)?;
    let ready = PreparedCampaign::new(ctx, plan, LockPurpose::Prove, DataLoadPolicy::Never, |_| Ok(()))?;
    ctx.emit(CampaignEvent::Proof(ProofEvent::Reading));
    let accounts = open_accounts(&ready)?;
    let started_run = ready.begin(None)?;
    let watch = HookedRunWatch { ctx, hooked: None, reporters: None };
    let (record, left) = ready.drive(&started_run, books(&ready, &accounts), &watch)?;
    let record = ready.judge_and_store(record, left)?;
    ctx.emit(CampaignEvent::Proof(ProofEvent::ReadingAgain(Some(record.id.clone()))));
    let run_stamp = run_stamp(&started_run.id);
    let proofs: Result<Vec<UpdateProof>, Error> =
        accounts.iter().map(|kept| kept.close(&ready, run_stamp, &record)).collect();
    Ok(Updates { proofs: proofs?, record })
}

/// A ledger that is filled during the run.
struct OpenAccount<'a> {
    /// The target through which the rows are read.
    reached: &'a ReachedTarget,
    /// The target's place in the plan; absent if the ledger covers all targets.
    at: Option<usize>,
    start: RowVersionBaseline,
    book: Arc<AckLedger>,
}

/// Creates the ledgers, with the content of all rows before the run.
fn open_accounts<'a>(ready: &'a PreparedCampaign<'_>) -> Result<Vec<OpenAccount<'a>>, Error> {
    let open = |reached: &'a ReachedTarget, spec: &DataSpec, at| -> Result<OpenAccount<'a>, Error> {
        let start = reached.named(RowVersionBaseline::read(reached.target.as_ref(), spec))?;
        let book = Arc::new(AckLedger::new(spec, ready.plan.workload.work_unit));
        Ok(OpenAccount { reached, at, start, book })
    };
    let all = ready.targets.all.iter().zip(&ready.specs).enumerate();
    let mut accounts = Vec::new();
    for (at, (reached, spec)) in all {
        match &reached.reads_only {
            None if ready.targets.is_shared() => return Ok(vec![open(reached, spec, None)?]),
            None => accounts.push(open(reached, spec, Some(at))?),
            Some(why) if !ready.targets.is_shared() => {
                let event = ProofEvent::NoAccount(reached.target.url(), why.clone());
                ready.ctx.emit(CampaignEvent::Proof(event));
            }
            Some(_) => {}
        }
    }
    Ok(accounts)
}

/// Returns the ledger of each target, in the order of the plan.
fn books(ready: &PreparedCampaign<'_>, accounts: &[OpenAccount<'_>]) -> Vec<Option<Arc<AckLedger>>> {
    let account_of = |at: usize| accounts.iter().find(|kept| kept.at.is_none_or(|index| index == at));
    (0..ready.targets.all.len()).map(|at| Some(Arc::clone(&account_of(at)?.book))).collect()
}

/// A completed comparison of rows with a ledger.
#[derive(Debug, Clone)]
pub struct UpdateProof {
    /// The target; absent if the ledger covers all targets, or there is only one.
    pub of: Option<String>,
    /// What the rows contain, compared with what was acknowledged.
    pub account: RowComparison,
    /// Number of updated rows according to the run's record; absent if it does not say.
    pub recorded: Option<u64>,
}

impl OpenAccount<'_> {
    /// Reads all rows again, and compares them with the ledger.
    fn close(
        &self,
        ready: &PreparedCampaign<'_>,
        run_stamp: u64,
        record: &RunRecord,
    ) -> Result<UpdateProof, Error> {
        let until = Instant::now() + SEEN_WITHIN;
        let read = || {
            let compared = self.start.compare(self.reached.target.as_ref(), &self.book, run_stamp);
            self.reached.named(compared)
        };
        let mut account = read()?;
        // Updates acknowledged by another target arrive with a delay, and no engine reports their arrival. So
        // the rows are read again for a limited time. Lost updates never arrive.
        while ready.targets.is_shared() && !account.is_whole() && Instant::now() < until {
            std::thread::sleep(READ_EVERY);
            account = read()?;
        }
        let target_totals = |at: usize| record.targets.get(at)?.own.as_ref()?.whole.as_ref();
        let several = ready.targets.is_several();
        let whole = match self.at {
            Some(at) if several => target_totals(at),
            _ => record.whole.as_ref(),
        };
        let target_index = self.at.filter(|_| several);
        Ok(UpdateProof {
            of: target_index.map(|at| format!("target {} ({})", at + 1, self.reached.target.url())),
            account,
            recorded: whole.map(|whole| whole.rows_updated),
        })
    }
}

impl UpdateProof {
    /// Whether every acknowledged update is in its rows exactly once, the record agrees, and there was at
    /// least one.
    pub fn holds(&self) -> bool {
        self.account.is_whole()
            && self.account.commits_acknowledged > 0
            && self.recorded.is_none_or(|recorded| recorded == self.account.rows_acknowledged)
    }

    /// Describes what is wrong with the comparison.
    fn fault(&self) -> String {
        let RowComparison { commits_acknowledged: commits, rows_acknowledged: rows, .. } = self.account;
        let (commits, rows) = (number::count(commits), number::count(rows));
        match self.account.commits_acknowledged {
            0 => "no update was acknowledged, so there is nothing to prove".to_owned(),
            _ => format!("the rows do not match what {commits} acknowledged commits did to {rows} rows"),
        }
    }
}

impl Updates {
    /// Whether every ledger agrees with its rows.
    pub fn is_proved(&self) -> bool {
        !self.proofs.is_empty() && self.proofs.iter().all(UpdateProof::holds)
    }

    /// One sentence about all proofs: the first that fails, or the common result.
    pub fn verdict(&self) -> String {
        let proofs = &self.proofs;
        if let Some(broken) = proofs.iter().find(|proof| !proof.holds()) {
            let target_prefix = broken.of.as_ref().map(|of| format!("{of}: ")).unwrap_or_default();
            return format!("not proved: {target_prefix}{}", broken.fault());
        }
        let sum =
            |count: fn(&RowComparison) -> u64| proofs.iter().map(|proof| count(&proof.account)).sum::<u64>();
        let bounds = match sum(|account| account.commits_unknown) {
            0 => String::new(),
            unknown => format!(
                " ({} more were interrupted by errors and may or may not be present: of their rows, {} are)",
                number::count(unknown),
                number::count(sum(|account| account.rows_unknown_found))
            ),
        };
        let scope = match proofs.len() {
            1 => String::new(),
            targets => format!("on {targets} targets, each compared with its own rows, "),
        };
        format!(
            "proved: {scope}each of {} row updates in {} acknowledged commits is in its row once; none is \
             lost and none is duplicated{bounds}",
            number::count(sum(|account| account.rows_acknowledged)),
            number::count(sum(|account| account.commits_acknowledged)),
        )
    }
}
