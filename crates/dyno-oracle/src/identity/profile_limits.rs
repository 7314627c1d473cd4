//! Checks limits of the user's profile that end sessions, their calls, or idle sessions.

use std::time::Duration;

use dyno_plan::Plan;
use dyno_record::Advice;

use super::facts::OraclePreflightFacts;
use dyno_engine::advice::warn;
use dyno_engine::{TimeLimit, TimeLimitScope};

/// The findings about limits on time, and on work if it is limited.
pub(super) fn profile_limits(facts: &OraclePreflightFacts, plan: &Plan) -> Vec<Advice> {
    // With resource_limit off, profiles only limit passwords and sessions.
    let is_enforced = facts.settings.value("resource_limit").is_none_or(|value| value == "TRUE");
    let limits = if is_enforced { facts.profile_limits.as_slice() } else { &[] };
    let scope = |name: &str| match name {
        "CONNECT_TIME" => Some(TimeLimitScope::Session),
        "IDLE_TIME" => Some(TimeLimitScope::IdleSession),
        _ => None,
    };
    let time = |(name, minutes): &(String, u64)| {
        let most = Duration::from_secs(minutes.saturating_mul(60));
        Some(TimeLimit { setting: name.clone(), most, ends: scope(name)? })
    };
    let user = &facts.session.user;
    let profile = format!("to run without these limits, change the profile of {user}: ALTER PROFILE … LIMIT");
    let times: Vec<TimeLimit> = limits.iter().filter_map(time).collect();
    let way_out = format!("{profile} CONNECT_TIME UNLIMITED IDLE_TIME UNLIMITED");
    let mut findings = vec![dyno_engine::time_limits(&times, plan, &way_out)];
    let work = limits.iter().filter(|(name, _)| scope(name).is_none());
    let work: Vec<String> = work.map(|(name, most)| format!("{name} = {most}")).collect();
    if !work.is_empty() {
        let text =
            format!("the profile of {user} ends sessions or calls above these limits: {}", work.join(", "));
        findings.push(warn("profile_limits", text, format!("{profile} these UNLIMITED")));
    }
    findings
}
