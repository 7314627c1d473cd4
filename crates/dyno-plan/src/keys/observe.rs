//! Keys of `[observe]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};
use crate::units::Rate;

pub(super) const SECTION: PlanSection = PlanSection {
    name: "observe",
    title: "observation",
    doc: "What Dyno reads from the database and the host while the sessions work.",
    keys: &[
        PlanKey::new(
            "observe.interval",
            PlanKeyKind::Span(millis(100), seconds(3_600), at!(observe.interval)),
        )
        .default("1s")
        .doc("Interval of the series of operations, latencies and counters.")
        .more("At most `run.time`; a run has at most 2,592,000 intervals (30 days of 1 s).")
        .example("100ms"),
        PlanKey::new("observe.waits", PlanKeyKind::Rate(Rate(0.1), Rate(1_000.0), at!(observe.waits)))
            .default("10/s")
            .doc("Samples of wait events per second, on a separate connection; or off.")
            .example("off")
            .for_servers(),
        PlanKey::new("observe.host", PlanKeyKind::Word(&[], at!(observe.host)))
            .words(&[
                ("auto", "the load and, if the database runs on this host, the database"),
                (
                    "driver",
                    "the load only: Dyno reads nothing from the database's host, as with a managed database",
                ),
            ])
            .default("auto")
            .doc("What the figures of this host describe.")
            .example("driver")
            .for_servers(),
        PlanKey::new("observe.hosts", PlanKeyKind::Hosts(at!(observe.hosts)))
            .without("this host only")
            .doc(
                "Hosts of the databases that Dyno observes in addition to this one: their processors, \
                 memory, devices and network.",
            )
            .more(
                "`ssh` needs only a login without a password on that host; `node-exporter` reads Prometheus' \
                 node_exporter, `node-exporter+https` with TLS (`ca`; a user in the URL, and `password_env` \
                 or `password_file`); `agent` is a `dyno agent --observe-only`, and `agent://NAME` one of \
                 several. `target` is the number of a target in `target.urls`. `data` and `redo` are paths \
                 on that host, for a database that does not report them or runs in a container. If a host is \
                 given for a database, the host figures are those of that host, and the figures of this host \
                 are shown beside them. See [hosts.md](../guides/hosts.md).",
            )
            .example("ssh://db1")
            .for_servers(),
        PlanKey::new("observe.awr", PlanKeyKind::Word(&[], at!(observe.awr)))
            .words(&[
                ("off", "none; Dyno does not use the Diagnostics Pack"),
                (
                    "statspack",
                    "snapshots of STATSPACK around the window, never of AWR; without them the run is refused",
                ),
                (
                    "awr",
                    "snapshots of AWR around the window, and its report, whose rates are compared with the \
                     run's; with this value you confirm that the Diagnostics Pack is licensed; without them \
                     the run is refused",
                ),
            ])
            .default("off")
            .doc("Which of Oracle's own reports is created for the window of a run.")
            .more("Dyno always reads its own counters, too. Other engines have no such reports.")
            .example("statspack")
            .for_servers(),
        PlanKey::new("observe.perf", PlanKeyKind::Flag(at!(observe.perf)))
            .default("false")
            .doc(
                "Whether `perf` profiles this host's processors during the window: by process, by function, \
                 and as a flame graph.",
            )
            .more(
                "Linux only, and this host only: if the database runs elsewhere, the profile shows the load \
                 only. If no profile can be recorded, the run is still measured and its record has the \
                 reason.",
            )
            .example("true"),
    ],
};
