//! What a run leaves in the tables is removed when its record is safe.

use std::time::Duration;

use dyno_drive::Leftover;
use dyno_engine::patience::Asked;
use dyno_engine::{Cancel, TargetError};

use crate::event::{Event, Warning};
use crate::lead::Lead;

/// How long a removal may take before it is spoken of, and before it is left to the next run.
const SILENT: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// Removes what sessions have `left`, as far as that can be done soon.
pub(crate) fn up(left: Vec<Leftover>, lead: &Lead<'_>) {
    if left.is_empty() {
        return;
    }
    let all = move || left.iter().map(Leftover::tidy).collect::<Result<Vec<u64>, TargetError>>();
    let outcome = Asked::start(all).map(|asked| {
        // Who has stopped the run gets its end; who stops now does not want to wait for this.
        asked.wait(SILENT, &Cancel::default()).or_else(|| {
            lead.tell(Event::Tidying);
            asked.wait(PATIENCE, &lead.cancel)
        })
    });
    let why = match outcome {
        Ok(Some(Ok(_))) => return,
        Ok(None) => None,
        Ok(Some(Err(error))) => Some(error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    lead.tell(Event::Warning(Warning::RowsLeft(why)));
}
