//! Layouts of services and undo.

use super::layout::{AwrSectionLayout, layout, name, number, parts, thousands};

/// How often undo was stolen, released and reused: unexpired (`u`) and expired (`e`).
const STEALS: &[&str] = &[
    "unexpired_stolen",
    "unexpired_released",
    "unexpired_reused",
    "expired_stolen",
    "expired_released",
    "expired_reused",
];

pub(super) const LAYOUTS: &[AwrSectionLayout] = &[
    layout(
        &["servicestatistics"],
        "services",
        &[
            name(&["servicename"]),
            number(&["dbtimes"], "db_time_s").total(),
            number(&["dbcpus"], "db_cpu_s").total(),
            // 10g prints them one by one.
            number(&["physicalreads"], "physical_reads").total(),
            thousands(&["physicalreadsk"], "physical_reads").total(),
            number(&["logicalreads"], "logical_reads").total(),
            thousands(&["logicalreadsk"], "logical_reads").total(),
        ],
    ),
    layout(
        &["servicewaitclassstats"],
        "service_waits",
        &[
            name(&["servicename"]),
            number(&["useri/ototalwts"], "user_io_waits"),
            number(&["useri/owttime"], "user_io_s").total(),
            number(&["concurcytotalwts"], "concurrency_waits"),
            number(&["concurcywttime"], "concurrency_s").total(),
            number(&["admintotalwts"], "administrative_waits"),
            number(&["adminwttime"], "administrative_s").total(),
            number(&["networktotalwts"], "network_waits"),
            number(&["networkwttime"], "network_s").total(),
        ],
    ),
    layout(
        &["undosegmentsummary"],
        "undo",
        &[
            name(&["undots#"]),
            thousands(&["numundoblocksk"], "undo_blocks").total(),
            number(&["undoblocks"], "undo_blocks").total(),
            number(&["numberoftransactions", "numtrans"], "transactions").total(),
            number(&["maxqrylens"], "max_query_s").level(),
            number(&["maxtxconcurcy", "maxtxconcy"], "max_concurrent_transactions"),
            parts(&["min/maxtrmins"], &["min_retention_min", "max_retention_min"]),
            parts(&["sto/oos"], &["snapshots_too_old", "out_of_space"]),
            number(&["snaptooold", "snapshottooold"], "snapshots_too_old"),
            number(&["outofspace"], "out_of_space"),
            parts(&["us/ur/uu/es/er/eu"], STEALS),
        ],
    ),
    layout(
        &["undosegmentstats"],
        "undo_intervals",
        &[
            name(&["endtime"]),
            number(&["numundoblocks", "undoblocks"], "undo_blocks"),
            number(&["numberoftransactions", "numtrans"], "transactions"),
            number(&["maxqrylens"], "max_query_s"),
            number(&["maxtxconcy"], "max_concurrent_transactions"),
            number(&["tunretmins"], "tuned_retention_min"),
            parts(&["sto/oos"], &["snapshots_too_old", "out_of_space"]),
            number(&["snaptooold"], "snapshots_too_old"),
            number(&["outofspace"], "out_of_space"),
            parts(&["us/ur/uu/es/er/eu"], STEALS),
        ],
    ),
];
