//! Preflight checks of reachability, privileges, and of caches that would replace reads of the tables.

use crate::grants::OracleGrants;
use dyno_plan::Plan;
use dyno_record::{Advice, Severity};

use super::super::layout::{check_block_bytes, chosen_block_size};
use super::facts::OraclePreflightFacts;
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{advice, connections, fail, failed, note, ok, only_read, warn};

/// The oldest release that Dyno supports and the newest: 12.2 and 26ai (23.26).
const OLDEST: (usize, usize) = (12, 2);
const NEWEST: usize = 23;

/// Whether the database is reachable, and as which user.
pub(super) fn reach(facts: &OraclePreflightFacts) -> Advice {
    let session = &facts.session;
    let container = session.container.as_ref().map_or(String::new(), |name| format!(", container {name}"));
    let rac = if facts.rac { ", one of several" } else { "" };
    let how = if session.encrypted { "with TLS" } else { "without TLS" };
    let where_it_is = if facts.same_host { "this machine" } else { "another machine" };
    ok(
        "reach",
        format!(
            "connected to {}{container}, service {}, instance {}{rac}, as {}, {how}; the server is on \
            {where_it_is}",
            session.database, session.service, session.instance, session.user
        ),
    )
}

/// Whether packets may be larger than the server accepts; `None` if the URL sets no size.
pub(super) fn packet_size(sdu: Option<u32>) -> Option<Advice> {
    /// The default of `DEFAULT_SDU_SIZE`.
    const USUAL: u32 = 8_192;
    sdu.filter(|bytes| *bytes > USUAL).map(|bytes| {
        note(
            "packet_size",
            format!(
                "sdu is {bytes}, but the driver ignores a smaller size in the server's answer: long \
                requests fail on such a server"
            ),
            "set DEFAULT_SDU_SIZE on the database's host to the same size, or leave sdu out of the URL",
        )
    })
}

/// Whether settings of Oracle's own clients have no effect in Dyno; `None` if there are none.
pub(super) fn client_settings(without_effect: &[String]) -> Option<Advice> {
    let names = (!without_effect.is_empty()).then(|| without_effect.join(", "))?;
    Some(note(
        "client_settings",
        format!("{names}: these settings are for Oracle's own clients and do not affect Dyno's sessions"),
        "write parameters of connections into the URL; set NLS parameters in the database, or by a logon trigger",
    ))
}

/// Whether Dyno supports this release.
pub(super) fn version(facts: &OraclePreflightFacts) -> Advice {
    let server_version = &facts.version;
    if facts.release < OLDEST {
        return fail("version", format!("{server_version} is too old"), "Dyno is written for 12.2 and later");
    }
    if facts.release.0 > NEWEST && facts.release.0 != 26 {
        return warn(
            "version",
            format!("{server_version} is newer than any version that Dyno was written for"),
            "check the audit: counters may have changed their meaning",
        );
    }
    ok("version", server_version.clone())
}

/// Whether this user has the privileges to load.
pub(super) fn privileges(facts: &OraclePreflightFacts, needs: &WorkloadNeeds) -> Advice {
    // The tables of a custom workload may already exist, created by another user.
    let severity = if needs.uses_test_tables() { Severity::Fail } else { Severity::Note };
    let (user, missing) = (&facts.session.user, &facts.missing_privileges);
    if !missing.is_empty() {
        return advice(
            "privileges",
            severity,
            format!("user {user} lacks {}", missing.join(", ")),
            format!(
                "{} `dyno check --grants` prints all useful grants",
                OracleGrants::new(user).system(&missing.join(", "))
            ),
        );
    }
    if !facts.has_quota {
        return advice(
            "privileges",
            severity,
            format!("user {user} cannot write into tablespace {}", facts.tablespace.name),
            format!("ALTER USER {user} QUOTA UNLIMITED ON {}", facts.tablespace.name),
        );
    }
    ok("privileges", format!("user {user} can load, run and drop"))
}

/// Whether this user can read the counters.
pub(super) fn views(facts: &OraclePreflightFacts) -> Advice {
    if facts.unreadable.is_empty() {
        return ok("views", "this user can read all views of counters, waits and settings");
    }
    let grants = OracleGrants::new(&facts.session.user);
    let grants: Vec<String> = facts.unreadable.iter().map(|view| grants.view(view)).collect();
    let severity = if facts.unreadable.iter().any(|view| view.ends_with("SYSSTAT")) {
        Severity::Warn
    } else {
        Severity::Note
    };
    advice(
        "views",
        severity,
        format!("{} cannot be read: their figures will be absent", facts.unreadable.join(", ")),
        format!("by a DBA: {}", grants.join(" ")),
    )
}

/// Whether the database allows enough sessions.
pub(super) fn sessions(facts: &OraclePreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Advice {
    let wanted = connections(plan.sessions(), plan, needs);
    if let Some(most) = facts.sessions_per_user.filter(|most| *most < wanted) {
        return fail(
            "sessions",
            format!("{wanted} sessions are needed, but the profile allows {most} (SESSIONS_PER_USER)"),
            "raise it, or use fewer sessions",
        );
    }
    let limits = ["sessions", "processes"]
        .into_iter()
        .filter_map(|name| facts.settings.number(name).filter(|limit| *limit > 0).map(|limit| (limit, name)));
    let (Some((most, name)), Some(there)) = (limits.min(), facts.sessions) else {
        return note(
            "sessions",
            format!("{wanted} sessions are needed; the number of free sessions is unknown"),
            "GRANT SELECT on SYS.V_$SESSION and SYS.V_$PARAMETER",
        );
    };
    let free = most.saturating_sub(there);
    if free < wanted {
        return fail(
            "sessions",
            format!("{wanted} sessions are needed, {free} are free of {name} = {most}"),
            format!(
                "ALTER SYSTEM SET {name} = {} SCOPE = SPFILE and restart, or use fewer sessions",
                most + wanted - free
            ),
        );
    }
    ok("sessions", format!("{wanted} sessions are needed, {free} of {name} = {most} are free"))
}

/// Whether the database accepts writes.
pub(super) fn writable(facts: &OraclePreflightFacts, needs: &WorkloadNeeds) -> Advice {
    let open = facts.database.as_ref().map_or("READ WRITE", |database| database[2].as_str());
    let role = facts.session.role.as_str();
    if !matches!(role, "" | "PRIMARY") || open != "READ WRITE" {
        let state = format!("the database is {role}, open {open}");
        return match needs.reason_to_write(&facts.data) {
            None => only_read(&state),
            Some(why) => fail(
                "writable",
                format!("{state}, but {why}: loads and updates need a primary that is open for writing"),
                "set target.url to the primary's service",
            ),
        };
    }
    // The tables of a custom workload may be in other tablespaces.
    if needs.uses_test_tables() && facts.tablespace.status != "ONLINE" {
        return fail(
            "writable",
            format!("tablespace {} is {}", facts.tablespace.name, facts.tablespace.status),
            format!("ALTER TABLESPACE {} ONLINE, or READ WRITE", facts.tablespace.name),
        );
    }
    ok("writable", "the database accepts writes")
}

/// Whether the plan's block size is that of the tablespace, and one that can hold one row per block.
pub(super) fn block_size(facts: &OraclePreflightFacts, plan: &Plan) -> Advice {
    let (tablespace, wish) = (&facts.tablespace, plan.data.block_size);
    match check_block_bytes(tablespace.block_size).and_then(|()| chosen_block_size(wish, tablespace)) {
        Ok(own) => ok("block_size", format!("the block size of tablespace {} is {own}", tablespace.name)),
        Err(error) => failed("block_size", &error),
    }
}

/// Whether others use the instance; its counters include all activity.
pub(super) fn other_sessions(facts: &OraclePreflightFacts) -> Advice {
    let list =
        "SELECT sid, username, program, event FROM v$session WHERE type = 'USER' AND status = 'ACTIVE'";
    match facts.others {
        Some((_, active)) if active > 0 => warn(
            "others",
            format!("{active} other sessions are active here; the counters include their activity"),
            format!("end them or wait: {list}"),
        ),
        Some((all, _)) if all > 0 => note(
            "others",
            format!("{all} other sessions are connected and idle"),
            format!("make sure they stay idle: {list}"),
        ),
        Some(_) => ok("others", "no other session is connected"),
        None => note("others", "sessions of other users are not visible", "GRANT SELECT ON SYS.V_$SESSION"),
    }
}

/// Whether the result cache is off: it returns results without reading.
pub(super) fn result_cache(facts: &OraclePreflightFacts) -> Advice {
    match facts.settings.value("result_cache_mode") {
        Some(mode) if mode.starts_with("FORCE") => warn(
            "result_cache",
            format!(
                "result_cache_mode is {mode}: the result cache answers repeated reads without reading \
                a block"
            ),
            "ALTER SYSTEM SET result_cache_mode = MANUAL",
        ),
        _ => ok("result_cache", "the result cache is not in use"),
    }
}

/// Whether `cursor_sharing` is EXACT; Dyno's statements use binds already.
pub(super) fn cursor_sharing(facts: &OraclePreflightFacts) -> Advice {
    match facts.settings.value("cursor_sharing") {
        Some(mode) if mode != "EXACT" => note(
            "cursor_sharing",
            format!(
                "cursor_sharing is {mode}; Dyno binds all values, and this setting would also replace the \
                literals in its blocks"
            ),
            "EXACT is the default",
        ),
        _ => ok("cursor_sharing", "statements are shared as Dyno sends them"),
    }
}
