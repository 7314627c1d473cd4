//! What a run leaves in the tables is removed when its record is safe.

use std::time::Duration;

use dyno_drive::Leftover;
use dyno_engine::patience::Asked;
use dyno_engine::{Cancel, TargetError};

use crate::talk::Talk;

/// How long a removal may take before it is spoken of, and before it is left to the next run.
const SILENT: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// Removes what sessions have `left`, as far as that can be done soon.
pub(crate) fn up(left: Vec<Leftover>, cancel: &Cancel, talk: &Talk) {
    if left.is_empty() {
        return;
    }
    let all = move || left.iter().map(Leftover::tidy).collect::<Result<Vec<u64>, TargetError>>();
    let later = "the next run removes them before it begins";
    let outcome = Asked::start(all).map(|asked| {
        // Who has stopped the run gets its end; who stops now does not want to wait for this.
        asked.wait(SILENT, &Cancel::default()).or_else(|| {
            talk.say(
                "the run is stored; removing the rows that it inserted takes a while (Ctrl-C leaves them)",
            );
            asked.wait(PATIENCE, cancel)
        })
    });
    let why = match outcome {
        Ok(Some(Ok(_))) => return,
        Ok(None) => String::new(),
        Ok(Some(Err(error))) => format!(" ({error})"),
        Err(error) => format!(" ({error})"),
    };
    talk.say(&format!("rows that this run inserted are still there{why}; {later}"));
}
