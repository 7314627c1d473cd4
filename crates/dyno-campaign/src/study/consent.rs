//! A study's commands are shown and agreed to before the first of them runs.

use super::order::Order;
use crate::consent::{knows, remember, remembered};
use crate::error::Error;
use crate::event::{Event, Warning};
use crate::lead::Lead;

/// Makes sure that the study's commands are wanted. Who has agreed to them once, with these parameters and from this folder, is not
/// asked again.
pub(super) fn require(lead: &Lead<'_>, order: &Order) -> Result<(), Error> {
    let commands = order.study.commands();
    if commands.is_empty() {
        return Ok(());
    }
    let mark = serde_json::json!({
        "folder": order.here.to_string_lossy(), "commands": commands, "params": order.study.params,
        "pieces": dyno_plan::study::PIECES, "erase": order.erase,
    })
    .to_string();
    let file = remembered("allowed-studies");
    if file.as_deref().is_some_and(|file| knows(file, &mark)) {
        return Ok(());
    }
    if !lead.consent.all && !lead.listener.allows(&commands)? {
        return Err(Error::usage(
            format!(
                "the study brings {} commands that would run as you, and you have not agreed to them before",
                commands.len()
            ),
            "`dyno study plan` shows all of them in their order; --allow-hooks runs them, now and from then on",
        ));
    }
    if let Some(file) = file
        && let Err(error) = remember(&file, &mark)
    {
        lead.tell(Event::Warning(Warning::ConsentNotKept(error.to_string(), file)));
    }
    Ok(())
}
