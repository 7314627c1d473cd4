//! Shows the commands of a study, and asks for consent before the first one runs.

use super::order::StudyDefinition;
use crate::campaign_context::CampaignContext;
use crate::consent::{consent_file, contains_mark, store_mark};
use crate::error::Error;
use crate::event::{CampaignEvent, Warning};

/// Asks for consent to the study's commands. Consent that was given once, with the same parameters and
/// folder, stays valid.
pub(super) fn require(ctx: &CampaignContext<'_>, order: &StudyDefinition) -> Result<(), Error> {
    let commands = order.study.commands();
    if commands.is_empty() {
        return Ok(());
    }
    let mark = serde_json::json!({
        "folder": order.here.to_string_lossy(), "commands": commands, "params": order.study.params,
        "pieces": dyno_plan::study::PIECES, "erase": order.erase,
    })
    .to_string();
    let file = consent_file("allowed-studies");
    if file.as_deref().is_some_and(|file| contains_mark(file, &mark)) {
        return Ok(());
    }
    if !ctx.consent.all && !ctx.listener.allows(&commands)? {
        return Err(Error::usage(
            format!(
                "the study contains {} commands that would run as your user and that you have not allowed \
                 before",
                commands.len()
            ),
            "`dyno study plan` shows all of them in order; --allow-hooks allows them, now and in later runs",
        ));
    }
    if let Some(file) = file
        && let Err(error) = store_mark(&file, &mark)
    {
        ctx.emit(CampaignEvent::Warning(Warning::ConsentNotKept(error.to_string(), file)));
    }
    Ok(())
}
