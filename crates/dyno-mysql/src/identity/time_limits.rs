//! Checks time limits of the server that apply to a run's sessions.

use std::time::Duration;

use dyno_plan::Plan;
use dyno_record::Advice;

use super::facts::MySqlPreflightFacts;
use dyno_engine::{TimeLimit, TimeLimitScope};

/// MySQL's limit on read statements, in milliseconds.
const MYSQL: (&str, TimeLimitScope) = ("max_execution_time", TimeLimitScope::Statement);

/// MariaDB's limits, in seconds with decimals.
const MARIADB: [(&str, TimeLimitScope); 4] = [
    ("max_statement_time", TimeLimitScope::Statement),
    ("idle_transaction_timeout", TimeLimitScope::IdleTransaction),
    ("idle_readonly_transaction_timeout", TimeLimitScope::IdleTransaction),
    ("idle_write_transaction_timeout", TimeLimitScope::IdleTransaction),
];

/// The finding about time limits. Sessions raise `wait_timeout` themselves.
pub(super) fn time_limits(facts: &MySqlPreflightFacts, plan: &Plan) -> Advice {
    let limits = if facts.mariadb { &MARIADB[..] } else { &[MYSQL][..] };
    let unit_s = if facts.mariadb { 1.0 } else { 0.001 };
    let limit = |&(setting, ends): &(&str, TimeLimitScope)| {
        let number: f64 = facts.settings.value(setting)?.parse().ok()?;
        let most = Duration::try_from_secs_f64(number * unit_s).ok().filter(|most| !most.is_zero())?;
        Some(TimeLimit { setting: setting.to_owned(), most, ends })
    };
    let limits: Vec<TimeLimit> = limits.iter().filter_map(limit).collect();
    let names: Vec<String> = limits.iter().map(|limit| format!("SET GLOBAL {} = 0", limit.setting)).collect();
    dyno_engine::time_limits(&limits, plan, &format!("to run without these limits: {}", names.join("; ")))
}
