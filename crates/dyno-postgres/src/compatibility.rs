//! Products that speak PostgreSQL's protocol.

use dyno_engine::TargetError;
use dyno_engine::compatibility::{CompatibilityExtent, CompatibilityProfile};
use dyno_record::Counter;

use super::connections::PostgresConnections;
use super::wire::PostgresError;
use dyno_engine::Refusal as _;

/// Blocks that the server writes itself, which a server without data files does not.
const BLOCK_WRITES: &[Counter] = &[
    Counter::PhysicalWrites,
    Counter::PhysicalWriteRequests,
    Counter::PhysicalWriteBytes,
    Counter::PhysicalWriteTime,
];
const REDO: &[Counter] =
    &[Counter::RedoBytes, Counter::RedoWrites, Counter::RedoSyncs, Counter::RedoSyncTime];

pub(super) const PROFILES: &[CompatibilityProfile] = &[
    CompatibilityProfile {
        product: "CockroachDB",
        recognized_by: "cockroachdb",
        processes: &["cockroach"],
        extent: CompatibilityExtent::Sql(
            "it stores rows as key-value pairs on several nodes, and PostgreSQL's statistics views and advisory \
             locks are only names there",
        ),
    },
    CompatibilityProfile {
        product: "YugabyteDB",
        recognized_by: "-yb-",
        processes: &["yb-tserver", "yb-master"],
        extent: CompatibilityExtent::Sql(
            "it stores rows as key-value pairs on several nodes, and PostgreSQL's statistics views describe one \
             node without its storage",
        ),
    },
    CompatibilityProfile {
        product: "H2",
        recognized_by: "using h2",
        processes: &["java"],
        extent: CompatibilityExtent::Sql("it has none of PostgreSQL's statistics views"),
    },
    CompatibilityProfile {
        product: "Aurora PostgreSQL",
        recognized_by: "aurora_version",
        processes: &["postgres"],
        extent: CompatibilityExtent::Server(&[
            (REDO, "its storage nodes make the log durable, and PostgreSQL's counters do not show that"),
            (BLOCK_WRITES, "its server writes no blocks, its storage nodes derive them from the log"),
        ]),
    },
    CompatibilityProfile {
        product: "AlloyDB",
        recognized_by: "alloydb",
        processes: &["postgres"],
        extent: CompatibilityExtent::Server(&[(
            BLOCK_WRITES,
            "its server writes no blocks, its storage service derives them from the log",
        )]),
    },
];

/// What gives away a product whose `version()` is PostgreSQL's own.
const MARKS: &str =
    "SELECT DISTINCT 'aurora_version' FROM pg_catalog.pg_proc WHERE proname = 'aurora_version'
     UNION ALL SELECT DISTINCT 'alloydb' FROM pg_catalog.pg_settings WHERE name LIKE 'alloydb.%'";

/// What the server says about itself, and its profile; absent for PostgreSQL.
pub(super) fn recognize(
    connections: &PostgresConnections,
) -> Result<Option<(String, &'static CompatibilityProfile)>, TargetError> {
    let mut connection = connections.plain("dyno check")?;
    let rows = connection.simple("SELECT version()")?;
    let version = rows.first().and_then(|row| row.get(0)).unwrap_or_default().to_owned();
    if let Some(profile) = CompatibilityProfile::recognize(PROFILES, &version) {
        return Ok(Some((version, profile)));
    }
    let marks = match connection.simple(MARKS) {
        Ok(rows) => rows,
        // A server that refuses the question is no server with these marks.
        Err(error) if PostgresError::of(&error).is_some_and(|server| !server.is_fatal()) => Vec::new(),
        Err(error) => return Err(error),
    };
    connection.close();
    let text: Vec<&str> = marks.iter().filter_map(|row| row.get(0)).collect();
    Ok(CompatibilityProfile::recognize(PROFILES, &text.join(" ")).map(|profile| (version, profile)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_versions_have_their_profile() {
        let product =
            |version: &str| CompatibilityProfile::recognize(PROFILES, version).map(|known| known.product);
        for (version, expected) in [
            ("CockroachDB CCL v23.2.4 (x86_64-pc-linux-gnu, built 2024/04/08)", Some("CockroachDB")),
            ("PostgreSQL 11.2-YB-2.20.3.1-b0 on x86_64-pc-linux-gnu", Some("YugabyteDB")),
            ("PostgreSQL 8.2.23 server protocol using H2 2.2.224 (2023-09-17)", Some("H2")),
            ("PostgreSQL 15.17 (Debian 15.17-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc", None),
            ("PostgreSQL 18.1 on aarch64-unknown-linux-gnu, compiled by clang", None),
        ] {
            assert_eq!(product(version), expected, "{version}");
        }
    }
}
