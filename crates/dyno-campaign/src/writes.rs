//! Lists what a workload would change in data that Dyno did not create, and asks for consent before its first
//! run.

use std::sync::Arc;

use dyno_engine::Target;
use dyno_plan::PlanErrors;
use dyno_workload::custom::CustomWorkload;

use crate::campaign_context::CampaignContext;
use crate::consent::{consent_file, contains_mark, store_mark};
use crate::error::Error;
use crate::event::{CampaignEvent, Warning};
use crate::targets::ReachedTargets;

/// The file that stores given consent.
const FILE: &str = "allowed-writes";

/// Asks for consent to the writes of `workloads` into data that Dyno did not create, once for each target and
/// version of a workload.
///
/// # Errors
/// Consent was not given before, and the user refuses or cannot be asked.
pub(crate) fn require_write_consent(
    ctx: &CampaignContext<'_>,
    workloads: &[Arc<CustomWorkload>],
    targets: &ReachedTargets,
) -> Result<(), Error> {
    for reached in &targets.all {
        for (at, own) in workloads.iter().enumerate() {
            let same = |other: &&Arc<CustomWorkload>| other.digest() == own.digest();
            // One question covers all parts of a workload.
            if !workloads[..at].iter().any(|other| same(&other)) {
                let parts: Vec<&Arc<CustomWorkload>> = workloads[at..].iter().filter(same).collect();
                reached.named(require_workload_consent(ctx, own, &parts, reached.target.as_ref()))?;
            }
        }
    }
    Ok(())
}

fn require_workload_consent(
    ctx: &CampaignContext<'_>,
    custom_workload: &CustomWorkload,
    parts: &[&Arc<CustomWorkload>],
    target: &dyn Target,
) -> Result<(), Error> {
    let engine = target.engine();
    let makes_data = !custom_workload.tables().is_empty()
        || !custom_workload.setup(engine).map_err(PlanErrors::from)?.is_empty();
    // Data in memory disappears with the run, so no consent is needed.
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
    let (url, name) = (target.url(), custom_workload.name());
    let mark = serde_json::json!({ "target": url, "workload": custom_workload.digest(), "changes": changes })
        .to_string();
    let file = consent_file(FILE);
    if file.as_deref().is_some_and(|file| contains_mark(file, &mark)) {
        return Ok(());
    }
    let lines: Vec<String> = changes
        .iter()
        .map(|(transaction, touched)| format!("{name} writes in {transaction}: {}", touched.join(", ")))
        .collect();
    if ctx.consent.writes {
        ctx.emit(CampaignEvent::Writes(url, lines));
    } else if !ctx.listener.allows_writes(&url, &lines)? {
        return Err(Error::usage(
            format!(
                "{name} changes data of {url} that Dyno did not create, and has not run there before: {}",
                lines.join("; ")
            ),
            "--allow-writes allows it, now and in later runs",
        ));
    }
    if let Some(file) = file
        && let Err(error) = store_mark(&file, &mark)
    {
        ctx.emit(CampaignEvent::Warning(Warning::ConsentNotKept(error.to_string(), file)));
    }
    Ok(())
}
