//! Deletes rows that a run left in the tables, once its record is stored.

use std::time::Duration;

use dyno_drive::Leftover;
use dyno_engine::bounded_query::PendingAnswer;
use dyno_engine::{Cancel, TargetError};

use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, Warning};

/// How long a deletion may take before it is reported, and how long before it is left to the next run.
const SILENT: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// Deletes the rows `left` by sessions, within a time limit.
pub(crate) fn remove_leftover_rows(left: Vec<Leftover>, ctx: &CampaignContext<'_>) {
    if left.is_empty() {
        return;
    }
    let all = move || left.iter().map(Leftover::tidy).collect::<Result<Vec<u64>, TargetError>>();
    let outcome = PendingAnswer::start(all).map(|asked| {
        // The first second also passes if the run was cancelled. Afterwards a cancellation ends the wait.
        asked.wait(SILENT, &Cancel::default()).or_else(|| {
            ctx.emit(CampaignEvent::Tidying);
            asked.wait(PATIENCE, &ctx.cancel)
        })
    });
    let why = match outcome {
        Ok(Some(Ok(_))) => return,
        Ok(None) => None,
        Ok(Some(Err(error))) => Some(error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    ctx.emit(CampaignEvent::Warning(Warning::RowsLeft(why)));
}
