//! Preflight checks of reachability, privileges, and of what the counters need.

use dyno_plan::{Bytes, Plan};
use dyno_record::Advice;

use super::super::layout::{SCHEMA, ident};
use super::super::pool::{PostgresPoolerStatements, PostgresRoute};
use super::block::chosen_block_size;
use super::facts::PostgresPreflightFacts;
use super::settings::alter;
use super::{NEWEST_MAJOR, OLDEST_VERSION};
use crate::grants::PostgresGrants;
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{
    MORE_POWER_THAN_NEEDED, connections as wanted_connections, fail, failed, note, ok, only_read, warn,
};

/// Whether the server is reachable, and as which user.
pub(super) fn reach(facts: &PostgresPreflightFacts) -> Advice {
    let PostgresPreflightFacts { user, database, .. } = facts;
    let where_it_is =
        if facts.same_host { "on this machine" } else { "on another machine, as far as Dyno can determine" };
    let how = if facts.encrypted { "with TLS" } else { "without TLS" };
    ok("reach", format!("connected to database {database} as {user}, {how}; the server is {where_it_is}"))
}

/// Whether Dyno was tested with this server version.
pub(super) fn version(facts: &PostgresPreflightFacts) -> Advice {
    let product_version = format!("PostgreSQL {}", facts.version);
    if facts.version_num < OLDEST_VERSION {
        return fail(
            "version",
            format!("{product_version} is older than 13, whose statistics Dyno cannot read"),
            "upgrade the server to a version that is still maintained",
        );
    }
    if facts.version_num / 10_000 > NEWEST_MAJOR {
        return warn(
            "version",
            format!(
                "{product_version} is newer than {NEWEST_MAJOR}, the newest version that Dyno was tested with"
            ),
            "check the audit: counters may have changed their meaning",
        );
    }
    ok("version", product_version)
}

/// What a pooler between sessions and server prevents.
pub(super) fn pooler(facts: &PostgresPreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Advice {
    match facts.through {
        Some(PostgresRoute::Pooled(statements)) => {
            let most = facts.pool_config.as_ref().and_then(|config| config.number("max_client_conn"));
            let wanted = u64::from(plan.sessions());
            return match most.filter(|most| *most < wanted) {
                None => through_pooler(statements),
                Some(most) => fail(
                    "pooler",
                    format!("{wanted} sessions are needed, but the pooler accepts max_client_conn = {most}"),
                    "raise max_client_conn in pgbouncer.ini, or use fewer sessions",
                ),
            };
        }
        Some(PostgresRoute::Direct) => {
            return ok("pooler", "target.url and target.observe_url both lead to the server itself");
        }
        None => {}
    }
    let Some(sign) = &facts.pooler else {
        return ok("pooler", "the connection goes to the server itself");
    };
    let finding = format!("the connection goes through a connection pooler: {sign}");
    let way_out = match needs.server_loops {
        false => {
            "set target.observe_url to the server's own host and port: sessions then go through the \
            pooler, everything else does not"
        }
        true => "set target.url to the server's own host and port instead of the pooler's",
    };
    fail("pooler", finding, way_out)
}

fn through_pooler(statements: PostgresPoolerStatements) -> Advice {
    let booked = "response times include the pooler; statistics of its connections arrive up to a second \
        late, so the audit compares counts of the window with that tolerance and counts of the whole run \
        exactly";
    match statements {
        PostgresPoolerStatements::Prepared => note(
            "pooler",
            format!("sessions go through a connection pooler, which supports prepared statements; {booked}"),
            "set target.url to the server's own address to measure without the pooler",
        ),
        PostgresPoolerStatements::Unnamed => note(
            "pooler",
            format!(
                "sessions go through a connection pooler, which does not support prepared statements: the \
                server parses and plans each operation again; {booked}"
            ),
            "PgBouncer supports them from 1.21 on, in transaction mode, if max_prepared_statements in \
            pgbouncer.ini is at least the number of the workload's statements",
        ),
    }
}

/// Whether this user can load; absent if nothing is loaded here.
pub(super) fn privileges(facts: &PostgresPreflightFacts, needs: &WorkloadNeeds) -> Option<Advice> {
    match (needs.loads, needs.uses_test_tables()) {
        (false, _) => None,
        (true, true) => Some(test_table_privileges(facts)),
        (true, false) => Some(table_privileges(facts)),
    }
}

/// Whether this user can create the tables of a custom workload, in the first schema of the search path.
fn table_privileges(facts: &PostgresPreflightFacts) -> Advice {
    match &facts.creates_tables_in {
        Some(schema) => ok("privileges", format!("tables can be created in schema {schema}")),
        // Tables that another user created may be sufficient.
        None => note(
            "privileges",
            format!("user {} cannot create tables in the first schema of its search_path", facts.user),
            format!(
                "{} if this user is to load tables",
                PostgresGrants::new(&facts.user, &facts.database).load_own()
            ),
        ),
    }
}

fn test_table_privileges(facts: &PostgresPreflightFacts) -> Advice {
    let grants = PostgresGrants::new(&facts.user, &facts.database);
    match facts.schema {
        None if facts.can_create_schema => ok("privileges", format!("schema {SCHEMA} can be created")),
        Some(true) => ok("privileges", format!("schema {SCHEMA} exists, and tables can be created in it")),
        None => fail(
            "privileges",
            format!("user {} cannot create schema {SCHEMA} in database {}", facts.user, facts.database),
            grants.load(),
        ),
        Some(false) => fail(
            "privileges",
            format!("schema {SCHEMA} exists, but user {} cannot create tables in it", facts.user),
            grants.load_into_schema(),
        ),
    }
}

/// Whether this user can see other users' activity and the server's paths.
pub(super) fn statistics(facts: &PostgresPreflightFacts) -> Advice {
    if facts.superuser {
        return note(
            "statistics",
            format!("user {} is a superuser; {MORE_POWER_THAN_NEEDED}", facts.user),
            "CREATE ROLE dyno LOGIN; GRANT pg_monitor TO dyno; and grant it CREATE on the database",
        );
    }
    if facts.monitor {
        return ok("statistics", "this user can read all statistics (pg_monitor)");
    }
    note(
        "statistics",
        format!(
            "user {} sees neither other users' sessions nor the server's paths; all counters are available",
            facts.user
        ),
        PostgresGrants::new(&facts.user, &facts.database).monitor(),
    )
}

/// Whether the server allows enough connections for all sessions.
pub(super) fn connections(facts: &PostgresPreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Advice {
    let settings = &facts.settings;
    let number = |name| settings.number(name).unwrap_or(0);
    // The pooler decides how many connections it opens for them.
    let sessions = if matches!(facts.through, Some(PostgresRoute::Pooled(_))) { 0 } else { plan.sessions() };
    let wanted = wanted_connections(sessions, plan, needs);
    let reserved = if facts.superuser { 0 } else { number("superuser_reserved_connections") };
    let server_free = number("max_connections").saturating_sub(reserved + facts.connections);
    let limits = [(facts.role_limit, "the role's"), (facts.database_limit, "the database's")];
    let limit = limits
        .iter()
        .filter_map(|&(limit, owner)| Some((u64::try_from(limit).ok()?, owner)))
        .filter(|_| !facts.superuser)
        .min();
    let too_few = |free: u64, limit_text: String, way_out: String| {
        let finding = format!("{wanted} connections are needed, {free} are free of {limit_text}");
        fail("connections", finding, way_out)
    };
    let max = number("max_connections");
    if server_free < wanted {
        let enough = max + wanted - server_free;
        let way_out = format!(
            "ALTER SYSTEM SET max_connections = {enough}; and restart the server, or use fewer sessions"
        );
        return too_few(server_free, format!("max_connections = {max}"), way_out);
    }
    if let Some((limit, limit_owner)) = limit.filter(|&(limit, _)| limit < wanted) {
        let object = if limit_owner == "the role's" {
            format!("ALTER ROLE {}", ident(&facts.user))
        } else {
            format!("ALTER DATABASE {}", ident(&facts.database))
        };
        return too_few(
            limit,
            format!("{limit_owner} connection limit {limit}"),
            format!("{object} CONNECTION LIMIT -1;"),
        );
    }
    ok("connections", format!("{wanted} connections are needed, {server_free} of {max} are free"))
}

/// Whether the server accepts writes.
pub(super) fn writable(facts: &PostgresPreflightFacts, needs: &WorkloadNeeds) -> Advice {
    let reason = needs.reason_to_write(&facts.data);
    let only_reads = match (facts.in_recovery, facts.read_only) {
        (true, _) => Some("the server is a standby in recovery"),
        (false, true) => Some("transactions are read-only by default_transaction_read_only"),
        (false, false) => None,
    };
    if let (Some(found), None) = (only_reads, reason) {
        return only_read(found);
    }
    let why = reason.unwrap_or_default();
    if facts.in_recovery {
        return fail(
            "writable",
            format!("the server is a standby in recovery, but {why}: loads and updates need a primary"),
            "set target.url to the primary's host, or promote this server: SELECT pg_promote();",
        );
    }
    if facts.read_only {
        return fail(
            "writable",
            format!("transactions are read-only by default_transaction_read_only, but {why}"),
            format!(
                "ALTER ROLE {} SET default_transaction_read_only = off; or {}",
                ident(&facts.user),
                alter("default_transaction_read_only", "off")
            ),
        );
    }
    ok("writable", "the server is a primary and accepts writes")
}

/// Whether the plan's block size is the server's block size.
pub(super) fn block_size(facts: &PostgresPreflightFacts, plan: &Plan) -> Advice {
    match chosen_block_size(plan.data.block_size, Bytes(facts.block_size)) {
        Ok(own) => ok("block_size", format!("the block size is {own}")),
        Err(error) => failed("block_size", &error),
    }
}

/// Whether others use the database.
pub(super) fn other_sessions(facts: &PostgresPreflightFacts) -> Advice {
    let (all, active) = facts.others;
    let list = "SELECT pid, usename, application_name, state, query FROM pg_stat_activity WHERE datname = current_database();";
    if active > 0 {
        return warn(
            "others",
            format!(
                "{active} other sessions are active in this database; its counters include their \
                activity"
            ),
            format!("end them or wait: {list}"),
        );
    }
    if facts.prepared_transactions > 0 {
        return warn(
            "others",
            format!(
                "{} prepared transactions are open and prevent the cleanup of dead rows",
                facts.prepared_transactions
            ),
            "SELECT * FROM pg_prepared_xacts; then COMMIT PREPARED or ROLLBACK PREPARED each",
        );
    }
    if all > 0 {
        return note(
            "others",
            format!(
                "{all} other sessions are connected to this database and idle, as far as this user can \
                see"
            ),
            match facts.monitor || facts.superuser {
                true => format!("make sure they stay idle: {list}"),
                false => {
                    let grants = PostgresGrants::new(&facts.user, &facts.database);
                    format!("to see their activity: {}", grants.monitor())
                }
            },
        );
    }
    ok("others", "no other session is connected to this database")
}

/// Whether `track_counts` is on; without it the server counts neither reads nor rows.
pub(super) fn track_counts(facts: &PostgresPreflightFacts) -> Advice {
    if facts.settings.is_on("track_counts") {
        return ok("track_counts", "track_counts is on");
    }
    warn(
        "track_counts",
        "track_counts is off: the server counts neither blocks nor rows, and nothing can be audited",
        alter("track_counts", "on"),
    )
}

/// Whether the server measures the time of a kind of I/O.
pub(super) fn timing(facts: &PostgresPreflightFacts, name: &str, lost: &str) -> Advice {
    if facts.settings.is_on(name) {
        return ok(name, format!("{name} is on"));
    }
    if facts.settings.value(name).is_none() {
        let finding = format!("PostgreSQL {} has no {name}: {lost} will be absent", facts.version);
        return note(name, finding, "upgrade to PostgreSQL 14 or later");
    }
    let summary = format!("{name} is off: {lost} will be absent");
    warn(name, summary, format!("{} (pg_test_timing shows its cost)", alter(name, "on")))
}
