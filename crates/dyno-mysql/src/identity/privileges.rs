//! Checks this user's privileges on the database.

use dyno_engine::advice::{note, ok, warn};
use dyno_engine::{DataState, WorkloadNeeds};
use dyno_record::Advice;

use super::facts::MySqlPreflightFacts;

/// Whether this user can load and run, or run the workload on data that is loaded.
pub(super) fn check(facts: &MySqlPreflightFacts, needs: &WorkloadNeeds) -> Advice {
    let MySqlPreflightFacts { user, database, missing_rights, .. } = facts;
    if missing_rights.is_empty() {
        return ok("privileges", format!("user {user} can load into database {database}, run and drop"));
    }
    if !needs.uses_test_tables() {
        return of_custom_workload(facts, needs);
    }
    // A read-only server gets its data from another server.
    let loaded = !needs.loads || matches!(facts.data, Ok(DataState::Loaded { .. }));
    let to_run: Vec<&str> = run_rights(needs).filter(|right| missing_rights.contains(right)).collect();
    if loaded && to_run.is_empty() {
        let text =
            format!("user {user} can run on the data loaded in database {database}, but not load or drop");
        return ok("privileges", text);
    }
    if loaded {
        return warn(
            "privileges",
            format!(
                "the grants of user {user} do not show {} on database {database}, which this plan's sessions need",
                to_run.join(", ")
            ),
            format!("{} A role may also grant them", facts.grants.run()),
        );
    }
    warn(
        "privileges",
        format!("the grants of user {user} do not show {} on database {database}", missing_rights.join(", ")),
        format!("{} A role may also grant them", facts.grants.load()),
    )
}

/// A custom workload may need privileges on its own tables only; the server reports missing ones when it
/// prepares the statements.
fn of_custom_workload(facts: &MySqlPreflightFacts, needs: &WorkloadNeeds) -> Advice {
    let MySqlPreflightFacts { user, database, missing_rights, .. } = facts;
    let missing = missing_rights.join(", ");
    let need = match needs.loads {
        true => "loading may need them",
        false => "statements of the workload may need some of them",
    };
    note(
        "privileges",
        format!("the grants of user {user} do not show {missing} on database {database}; {need}"),
        format!("{} A role or grants on the tables may also give them", facts.grants.load()),
    )
}

/// Privileges that sessions of the block workload need on loaded data.
fn run_rights(needs: &WorkloadNeeds) -> impl Iterator<Item = &'static str> {
    [
        ("SELECT", true),
        ("UPDATE", needs.updates),
        // A run with inserts deletes its leftover rows.
        ("INSERT", needs.inserts),
        ("DELETE", needs.inserts),
        ("EXECUTE", needs.server_loops),
    ]
    .into_iter()
    .filter_map(|(right, needed)| needed.then_some(right))
}
