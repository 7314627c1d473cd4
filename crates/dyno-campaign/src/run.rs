//! One run, from plan to stored record.

use std::sync::Arc;

use dyno_engine::Work;
use dyno_plan::Plan;
use dyno_record::RunRecord;

use crate::error::Error;
use crate::lead::Lead;
use crate::ready::Ready;
use crate::room::Loading;

/// Does one run of `plan`, with the commands around it.
///
/// # Errors
/// The plan or the target is not fit for a run, or a command of the plan failed; a run that was measured is stored all the same.
pub fn run(lead: &Lead<'_>, plan: Plan) -> Result<Arc<RunRecord>, Error> {
    let mut ready = Ready::new(lead, plan, Work::Run, Loading::Never, |_| Ok(()))?;
    let measured = ready.measure(None).and_then(|record| ready.after_run(&record).map(|()| record));
    let ended = ready.after_all();
    let record = measured?;
    ended?;
    Ok(record)
}
