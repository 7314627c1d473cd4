//! Preflight checks of reachability and of what the counters need.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::layout::{MySqlRowShape, own_page_size};
use super::facts::MySqlPreflightFacts;
use super::settings::set_global;
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{
    MORE_POWER_THAN_NEEDED, connections as wanted_connections, fail, failed, note, ok, only_read, warn,
};

/// The oldest versions that Dyno supports and the newest that it was tested with: MySQL, MariaDB.
const OLDEST: (u32, u32) = (50_700, 100_200);
const NEWEST: (u32, u32) = (99_999, 129_999);

/// Whether the server is reachable, and as which user.
pub(super) fn reach(facts: &MySqlPreflightFacts) -> Advice {
    let MySqlPreflightFacts { user, database, .. } = facts;
    let where_it_is =
        if facts.same_host { "on this machine" } else { "on another machine, as far as Dyno can determine" };
    let how = if facts.encrypted { "with TLS" } else { "without TLS" };
    ok("reach", format!("connected to database {database} as {user}, {how}; the server is {where_it_is}"))
}

/// Whether Dyno was tested with this server version.
pub(super) fn version(facts: &MySqlPreflightFacts) -> Advice {
    let product_version = format!("{} {}", facts.product, facts.version);
    let for_product = |pair: (u32, u32)| if facts.mariadb { pair.1 } else { pair.0 };
    if facts.version_num < for_product(OLDEST) {
        let way_out = "upgrade the server to a version that is still maintained";
        return fail("version", format!("{product_version} is too old"), way_out);
    }
    if facts.version_num > for_product(NEWEST) {
        return warn(
            "version",
            format!("{product_version} is newer than any version that Dyno was tested with"),
            "check the audit: counters may have changed their meaning",
        );
    }
    ok("version", product_version)
}

/// Whether this user can read other users' activity and exact counts of pages.
pub(super) fn statistics(facts: &MySqlPreflightFacts) -> Advice {
    let user = &facts.user;
    if facts.superuser {
        return note(
            "statistics",
            format!("user {user} has all privileges; {MORE_POWER_THAN_NEEDED}"),
            [facts.grants.load(), facts.grants.process(), facts.grants.page_counts()].join(" "),
        );
    }
    if facts.process && facts.index_stats {
        return ok("statistics", "this user can read other users' sessions and exact page counts");
    }
    note(
        "statistics",
        format!(
            "user {user} sees {}, and {} of pages",
            if facts.process { "other users' sessions" } else { "no other users' sessions" },
            if facts.index_stats { "exact counts" } else { "only rounded counts" }
        ),
        [facts.grants.process(), facts.grants.page_counts()].join(" "),
    )
}

/// Whether the server allows enough connections for all sessions.
pub(super) fn connections(facts: &MySqlPreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Advice {
    let number = |name| facts.settings.number(name).unwrap_or(0);
    let wanted = wanted_connections(plan.sessions(), plan, needs);
    let max = number("max_connections");
    let free = max.saturating_sub(facts.connections);
    let too_few = |free: u64, limit: String, way_out: String| {
        fail("connections", format!("{wanted} connections are needed, {free} are free of {limit}"), way_out)
    };
    if free < wanted {
        let enough = max + wanted - free;
        let way_out = format!("{} or use fewer sessions", set_global("max_connections", &enough.to_string()));
        return too_few(free, format!("max_connections = {max}"), way_out);
    }
    let per_user = number("max_user_connections");
    if per_user > 0 && per_user < wanted {
        let way_out = set_global("max_user_connections", "0");
        return too_few(per_user, format!("max_user_connections = {per_user}"), way_out);
    }
    ok("connections", format!("{wanted} connections are needed, {free} of {max} are free"))
}

/// Whether the server accepts writes.
pub(super) fn writable(facts: &MySqlPreflightFacts, needs: &WorkloadNeeds) -> Advice {
    let blocking = ["super_read_only", "read_only", "innodb_read_only"]
        .into_iter()
        .find(|name| facts.settings.is_on(name));
    match blocking {
        // Users with enough privileges can write despite this setting.
        Some("read_only") if facts.superuser && !facts.settings.is_on("super_read_only") => note(
            "writable",
            "the server is read_only, as replicas are; this user can write nevertheless",
            "give target.url the primary's host",
        ),
        Some(name) => match needs.reason_to_write(&facts.data) {
            Some(why) => fail(
                "writable",
                format!("{name} is on, but {why}: loads and updates need a server that accepts writes"),
                format!("give target.url the primary's host, or {}", set_global(name, "OFF")),
            ),
            None => only_read(&format!("{name} is on")),
        },
        None => ok("writable", "the server accepts writes"),
    }
}

/// Whether the plan's block size is the server's page size, and one that can hold one row per page.
pub(super) fn block_size(facts: &MySqlPreflightFacts, plan: &Plan) -> Advice {
    let page_size = MySqlRowShape::of(facts.block_size)
        .and_then(|_| own_page_size(plan.data.block_size, facts.block_size));
    match page_size {
        Ok(size) => ok("block_size", format!("the page size is {size}")),
        Err(error) => failed("block_size", &error),
    }
}

/// Whether others use the server; its counters include all activity.
pub(super) fn other_sessions(facts: &MySqlPreflightFacts) -> Advice {
    let (all, active) = facts.others;
    let list = "SELECT * FROM information_schema.PROCESSLIST;";
    if active > 0 {
        return warn(
            "others",
            format!("{active} other sessions are active on this server; its counters include their activity"),
            format!("end them or wait: {list}"),
        );
    }
    if all > 0 || !facts.process {
        let finding = if facts.process {
            format!("{all} other sessions are connected to this server and idle")
        } else {
            "sessions of other users are not visible without the privilege PROCESS".to_owned()
        };
        let way_out =
            if facts.process { format!("make sure they stay idle: {list}") } else { facts.grants.process() };
        return note("others", finding, way_out);
    }
    ok("others", "no other session is connected to this server")
}

/// Figures that this server provides only through `performance_schema`.
fn missing_figures(facts: &MySqlPreflightFacts) -> Vec<&'static str> {
    let mut lost = vec!["requests and times of physical reads and writes", "db_time", "waits"];
    if !facts.mariadb {
        lost.push("time of redo syncs");
        lost.push("the attribution of rows read");
        // Bytes and syncs of the binlog are part of both, and MySQL counts them only there.
        if facts.settings.is_on("log_bin") {
            lost.push("redo_bytes and redo_syncs");
        }
    }
    lost
}

/// Whether `performance_schema` is on. Without it there are no times, and on MySQL with a binlog no redo.
pub(super) fn performance_schema(facts: &MySqlPreflightFacts) -> Advice {
    if !facts.settings.is_on("performance_schema") {
        return warn(
            "performance_schema",
            format!("performance_schema is off: {} will be absent", missing_figures(facts).join(", ")),
            "set performance_schema = ON in the server's option file and restart it",
        );
    }
    if facts.unreadable.is_empty() {
        return ok("performance_schema", "performance_schema is on and readable");
    }
    warn(
        "performance_schema",
        format!(
            "user {} cannot read {} of performance_schema: {} will be absent",
            facts.user,
            facts.unreadable.join(", "),
            missing_figures(facts).join(", ")
        ),
        facts.grants.performance_schema(),
    )
}

/// Whether the query cache is off: it returns results without reading.
pub(super) fn query_cache(facts: &MySqlPreflightFacts) -> Advice {
    let size = facts.settings.number("query_cache_size").unwrap_or(0);
    let on = facts.settings.value("query_cache_type").is_some_and(|value| !matches!(value, "OFF" | "0"));
    if on && size > 0 {
        return warn(
            "query_cache",
            "the query cache is on: it answers repeated reads without reading a page",
            set_global("query_cache_type", "OFF"),
        );
    }
    ok("query_cache", "the query cache is not in use")
}

/// Whether the adaptive hash index is off: it is an index in memory next to the trees and changes what counts
/// as a logical read.
pub(super) fn adaptive_hash_index(facts: &MySqlPreflightFacts) -> Advice {
    let name = "innodb_adaptive_hash_index";
    if facts.settings.is_on(name) {
        return note(
            name,
            format!(
                "{name} is on: it shortens repeated row lookups, so the same work takes fewer logical \
                reads than on a server where it is off"
            ),
            format!("{}, or use the same setting on all servers that are compared", set_global(name, "OFF")),
        );
    }
    ok(name, "the adaptive hash index is off")
}
