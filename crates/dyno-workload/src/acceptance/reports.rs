//! Step 9: makes the database's own report, if the user enabled it.

use dyno_plan::{AwrObserveMode, DataSpec};

use super::{AcceptanceScope, Findings, not_applicable, not_proved, proved};

const CHECK: &str = "report";

pub(super) fn report(scope: &AcceptanceScope<'_>, _: &DataSpec) -> Findings {
    if !scope.has_own_reports {
        return Ok(vec![not_applicable(CHECK, "this engine makes no reports of its own")]);
    }
    let awr = scope.plan.observe.awr;
    if awr == AwrObserveMode::Off {
        let reason =
            "not requested: AWR needs a license, so it is used only with --set observe.awr=awr or statspack";
        return Ok(vec![not_applicable(CHECK, reason)]);
    }
    let Some(reporter) = scope.target.reporter(awr)? else {
        return Ok(vec![not_proved(
            CHECK,
            format!("the database takes no snapshots of its own ({})", awr.name()),
        )]);
    };
    let reports = reporter.finish()?;
    let bytes: usize = reports.iter().map(|report| report.text.len()).sum();
    let names: Vec<&str> = reports.iter().map(|report| report.name.as_str()).collect();
    let words = format!("{} taken, {bytes} bytes of reports", names.join("; "));
    Ok(vec![proved(CHECK, words).figure("report_bytes", bytes as i64)])
}
