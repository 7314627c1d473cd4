//! What a workload changes in data that Dyno did not make is listed before its first run, and done only for those who want it.

use std::sync::Arc;

use dyno_engine::Target;
use dyno_plan::PlanErrors;
use dyno_workload::own::Own;

use crate::consent::{knows, remember, remembered};
use crate::error::Error;
use crate::event::{Event, Warning};
use crate::lead::Lead;
use crate::targets::Targets;

/// What keeps that somebody has agreed.
const FILE: &str = "allowed-writes";

/// Makes sure that the user wants what `owns` write into data that Dyno did not set up: asked once for each target and version of a
/// workload.
///
/// # Errors
/// It is not allowed beforehand, and nobody can be asked or the answer is no.
pub(crate) fn require(lead: &Lead<'_>, owns: &[Arc<Own>], targets: &Targets) -> Result<(), Error> {
    for reached in &targets.all {
        for (at, own) in owns.iter().enumerate() {
            let same = |other: &&Arc<Own>| other.digest() == own.digest();
            // Parts of one workload are one question.
            if !owns[..at].iter().any(|other| same(&other)) {
                let parts: Vec<&Arc<Own>> = owns[at..].iter().filter(same).collect();
                reached.named(require_one(lead, own, &parts, reached.target.as_ref()))?;
            }
        }
    }
    Ok(())
}

fn require_one(lead: &Lead<'_>, own: &Own, parts: &[&Arc<Own>], target: &dyn Target) -> Result<(), Error> {
    let engine = target.engine();
    let makes_data = !own.tables().is_empty() || !own.setup(engine).map_err(PlanErrors::from)?.is_empty();
    // What is in memory alone goes with the run.
    if !parts.iter().any(|part| part.writes()) || makes_data || target.capabilities().ephemeral {
        return Ok(());
    }
    let mut changes: Vec<(String, Vec<String>)> = Vec::new();
    for part in parts {
        for (name, touched) in part.changes(engine).map_err(PlanErrors::from)? {
            if changes.iter().all(|(known, _)| *known != name) {
                changes.push((name, touched));
            }
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    let (url, name) = (target.url(), own.name());
    let mark = serde_json::json!({ "target": url, "workload": own.digest(), "changes": changes }).to_string();
    let file = remembered(FILE);
    if file.as_deref().is_some_and(|file| knows(file, &mark)) {
        return Ok(());
    }
    let lines: Vec<String> = changes
        .iter()
        .map(|(transaction, touched)| format!("{name} writes in {transaction}: {}", touched.join(", ")))
        .collect();
    if lead.consent.writes {
        lead.tell(Event::Writes(url, lines));
    } else if !lead.listener.allows_writes(&url, &lines)? {
        return Err(Error::usage(
            format!(
                "{name} changes data of {url} that Dyno did not make, and has not run there before: {}",
                lines.join("; ")
            ),
            "--allow-writes runs it, now and from then on",
        ));
    }
    if let Some(file) = file
        && let Err(error) = remember(&file, &mark)
    {
        lead.tell(Event::Warning(Warning::ConsentNotKept(error.to_string(), file)));
    }
    Ok(())
}
