//! Products that speak MySQL's protocol.

use dyno_engine::TargetError;
use dyno_engine::compatibility::{CompatibilityExtent, CompatibilityProfile};
use dyno_record::Counter;

use super::connections::MySqlConnections;

pub(super) const PROFILES: &[CompatibilityProfile] = &[
    CompatibilityProfile {
        product: "TiDB",
        recognized_by: "tidb",
        processes: &["tidb-server", "tikv-server"],
        extent: CompatibilityExtent::Sql(
            "it stores rows as key-value pairs on several nodes, and SHOW GLOBAL STATUS has none of MySQL's counters",
        ),
    },
    CompatibilityProfile {
        product: "Vitess",
        recognized_by: "vitess",
        processes: &["vtgate", "vtcombo"],
        extent: CompatibilityExtent::Sql(
            "it routes statements to several MySQL servers, and one session cannot read the counters of all",
        ),
    },
    CompatibilityProfile {
        product: "Dolt",
        recognized_by: "dolt",
        processes: &["dolt"],
        extent: CompatibilityExtent::Sql("it has no InnoDB, and its status variables do not count work"),
    },
    CompatibilityProfile {
        product: "Aurora MySQL",
        recognized_by: "aurora_version",
        processes: &["mysqld"],
        extent: CompatibilityExtent::Server(&[
            (
                &[Counter::RedoBytes, Counter::RedoWrites, Counter::RedoSyncs, Counter::RedoSyncTime],
                "its storage nodes make the log durable, and InnoDB's counters do not show that",
            ),
            (
                &[
                    Counter::PhysicalWrites,
                    Counter::PhysicalWriteRequests,
                    Counter::PhysicalWriteBytes,
                    Counter::PhysicalWriteTime,
                ],
                "its server writes no pages, its storage nodes derive them from the log",
            ),
        ]),
    },
    CompatibilityProfile {
        product: "Percona Server",
        recognized_by: "percona",
        processes: &["mysqld"],
        extent: CompatibilityExtent::Server(&[]),
    },
];

/// What the server says about itself, and its profile; absent for MySQL and MariaDB.
pub(super) fn recognize(
    connections: &MySqlConnections,
) -> Result<Option<(String, &'static CompatibilityProfile)>, TargetError> {
    let mut connection = connections.plain("dyno check")?;
    let version = connection.server_version().to_owned();
    let mut text = version.clone();
    for row in
        connection.simple("SHOW VARIABLES WHERE Variable_name IN ('version_comment', 'aurora_version')")?
    {
        text.extend([" ", row.get(0).unwrap_or_default(), " ", row.get(1).unwrap_or_default()]);
    }
    connection.close();
    Ok(CompatibilityProfile::recognize(PROFILES, &text).map(|profile| (version, profile)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_versions_have_their_profile() {
        let product = |text: &str| CompatibilityProfile::recognize(PROFILES, text).map(|known| known.product);
        for (text, expected) in [
            (
                "8.0.11-TiDB-v7.5.1 version_comment TiDB Server (Apache License 2.0) Community Edition",
                Some("TiDB"),
            ),
            ("8.0.30-Vitess version_comment Version: 20.0.1", Some("Vitess")),
            ("8.0.33 version_comment Dolt", Some("Dolt")),
            ("8.0.28 version_comment Source distribution aurora_version 3.04.0", Some("Aurora MySQL")),
            ("8.0.36-28 version_comment Percona Server (GPL), Release 28", Some("Percona Server")),
            ("8.4.3 version_comment MySQL Community Server - GPL", None),
            ("5.5.5-10.11.19-MariaDB-0+deb12u1 version_comment Debian 12", None),
        ] {
            assert_eq!(product(text), expected, "{text}");
        }
    }
}
