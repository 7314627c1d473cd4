//! Step 2: checks that the user may read every counter and do everything that a run does.

use dyno_engine::advice::MORE_POWER_THAN_NEEDED;
use dyno_engine::{TargetError, TargetErrorKind, WorkloadNeeds};
use dyno_plan::DataSpec;
use dyno_record::{AcceptanceFinding, Advice, Counter, CounterReading, Severity, Snapshot};

use super::{AcceptanceScope, Findings, not_applicable, not_proved, of_error, proved};

/// Counters that every audit needs.
const NEEDED: [Counter; 2] = [Counter::Commits, Counter::LogicalReads];

/// The preflight findings for a plan that loads and updates.
pub(super) fn preflight(scope: &AcceptanceScope<'_>) -> Result<Vec<Advice>, TargetError> {
    scope.target.preflight(scope.plan, &WorkloadNeeds::of_block_workload(scope.plan))
}

pub(super) fn rights(scope: &AcceptanceScope<'_>, _: &DataSpec) -> Findings {
    let advice = preflight(scope)?;
    let mut findings: Vec<AcceptanceFinding> =
        advice.iter().filter(|advice| keeps_from_proof(advice)).map(missing).collect();
    if findings.is_empty() {
        findings
            .push(proved("grants", "the user can load, run and drop, and no useful privilege is missing"));
    }
    let onlooker = match scope.target.passive_observer() {
        Ok(onlooker) => onlooker,
        Err(error) if error.kind == TargetErrorKind::Unsupported => {
            let reason = "the engine counts inside this process: there are no views, and no grants";
            findings.push(not_applicable("counters", reason));
            return Ok(findings);
        }
        Err(error) => {
            findings.push(of_error("counters", &error));
            return Ok(findings);
        }
    };
    let mut observer = onlooker.observer;
    findings.push(counters(&observer.snapshot()?));
    findings.push(match onlooker.sampler {
        Ok(mut sampler) => {
            sampler.sample(&mut Vec::new(), &mut Vec::new())?;
            match sampler.can_see_others() {
                Ok(()) => proved("waits", "waits of all sessions can be sampled"),
                Err(reason) => not_proved("waits", reason),
            }
        }
        Err(error) => not_proved("waits", error.message).way_out(error.hint),
    });
    Ok(findings)
}

/// Whether a finding reports a missing right, or that a run would fail.
fn keeps_from_proof(advice: &Advice) -> bool {
    advice.severity == Severity::Fail || lacks_right(advice)
}

fn lacks_right(advice: &Advice) -> bool {
    advice.severity > Severity::Ok
        && advice.way_out.contains("GRANT ")
        && !advice.found.contains(MORE_POWER_THAN_NEEDED)
}

fn missing(advice: &Advice) -> AcceptanceFinding {
    not_proved(&advice.check, advice.found.as_str()).way_out(advice.way_out.as_str())
}

/// Lists the portable counters that have a value, and why others have none.
fn counters(snapshot: &Snapshot) -> AcceptanceFinding {
    let absent: Vec<(Counter, &str)> = Counter::ALL
        .into_iter()
        .filter_map(|counter| match snapshot.portable.get(&counter) {
            Some(CounterReading::Value(_)) => None,
            Some(CounterReading::Absent(reason)) => Some((counter, reason.as_str())),
            None => Some((counter, "the engine gives no reason")),
        })
        .collect();
    let with_value = Counter::ALL.len() - absent.len();
    let reasons: Vec<String> =
        absent.iter().map(|(counter, reason)| format!("{}: {reason}", counter.name())).collect();
    let unread: Vec<String> =
        snapshot.unread.iter().map(|(source, reason)| format!("{source}: {reason}")).collect();
    let words = match absent.len() {
        0 => format!("all {with_value} portable counters have a value"),
        number => format!(
            "{with_value} portable counters have a value, {number} are absent: {}",
            reasons.join("; ")
        ),
    };
    let lacks = absent.iter().any(|(counter, reason)| NEEDED.contains(counter) || reason.contains("GRANT"));
    let finding = match (unread.is_empty(), lacks) {
        (true, false) => proved("counters", words),
        (true, true) => not_proved("counters", words),
        (false, _) => not_proved("counters", format!("{words}; not read: {}", unread.join("; "))),
    };
    finding.figure("present", with_value as i64).figure("absent", absent.len() as i64)
}

/// The statements that grant the user its missing rights, one per line; empty if none are missing.
pub(super) fn missing_grants(scope: &AcceptanceScope<'_>) -> Result<String, TargetError> {
    let advice = preflight(scope)?;
    let way_outs: Vec<&str> =
        advice.iter().filter(|advice| lacks_right(advice)).map(|advice| advice.way_out.as_str()).collect();
    Ok(script(&way_outs, scope.all_grants))
}

/// The `GRANT` statements in the hints `way_outs`; returns `all` if one of the hints has no complete statement.
fn script(way_outs: &[&str], all: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for way_out in way_outs {
        let grants = statements(way_out);
        if grants.is_empty() {
            return all.trim_end().to_owned();
        }
        for grant in grants {
            if !lines.contains(&grant) {
                lines.push(grant);
            }
        }
    }
    lines.join("\n")
}

/// The complete `GRANT … TO …` statements in a text, each with a semicolon.
fn statements(text: &str) -> Vec<String> {
    text.split(';')
        .filter_map(|part| Some(part[part.find("GRANT ")?..].trim()))
        .filter(|grant| grant.contains(" TO "))
        .map(|grant| format!("{grant};"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_in_findings_are_merged_into_one_script() {
        let way_outs = [
            "by a DBA: GRANT SELECT ON SYS.V_$SYSSTAT TO me; GRANT SELECT ON SYS.V_$EVENT TO me;",
            "GRANT SELECT ON SYS.V_$SYSSTAT TO me; shows where the data lies",
        ];
        let expected = "GRANT SELECT ON SYS.V_$SYSSTAT TO me;\nGRANT SELECT ON SYS.V_$EVENT TO me;";
        assert_eq!(script(&way_outs, "all"), expected);
        assert_eq!(script(&["GRANT PROCESS on something"], "all\n"), "all");
        assert_eq!(script(&[], "all"), "");
    }
}
