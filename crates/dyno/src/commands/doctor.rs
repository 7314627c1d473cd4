//! `dyno doctor`: reports what on this machine distorts measurements, with remedies.

use std::path::Path;

use dyno_campaign::doctor::{host_advice, inspect_host};
use dyno_campaign::repository_path;
use dyno_record::Severity;
use serde_json::json;

use crate::cli::CommonArgs;
use crate::console::Console;
use crate::exit::Exit;

pub(super) fn run(common: &CommonArgs, talk: &Console) -> anyhow::Result<Exit> {
    let repository = repository_path(common.repository.as_deref())?;
    let folder = repository.parent().unwrap_or(Path::new("."));
    talk.say("observing this machine for a second");
    let inspection = inspect_host(&[("repository", folder)]);
    let advice = host_advice(&inspection);
    let host = &inspection.host;
    let names = [host.name.as_str(), &host.os, &host.kernel];
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    talk.show(&format!("{}\n\n", names.join(", ")))?;
    talk.show(&dyno_report::advice_table(&advice, &talk.style()))?;
    talk.json(&json!({ "host": host, "advice": advice }))?;
    let warnings = advice.iter().filter(|one| one.severity >= Severity::Warn).count();
    talk.show(&match warnings {
        0 => "\nnothing here distorts measurements; `dyno check` checks the database".to_owned(),
        1 => "\n1 finding distorts measurements; what to do about it is above".to_owned(),
        more => format!("\n{more} findings distort measurements; what to do about them is above"),
    })?;
    Ok(match advice.iter().any(|one| one.severity == Severity::Fail) {
        true => Exit::Failed,
        false => Exit::Done,
    })
}
