//! Keys of `[observe]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};
use crate::units::Rate;

pub(super) const SECTION: PlanSection = PlanSection {
    name: "observe",
    title: "what is watched",
    doc: "What is read from the database and the host while the sessions work.",
    keys: &[
        PlanKey::new("observe.interval", PlanKeyKind::Span(millis(100), seconds(3_600), at!(observe.interval)))
            .default("1s")
            .doc("Spacing of the series of operations, latencies and counters.")
            .more("Not longer than `run.time`, which has at most 2,592,000 intervals, the seconds of 30 days.")
            .example("100ms"),
        PlanKey::new("observe.waits", PlanKeyKind::Rate(Rate(0.1), Rate(1_000.0), at!(observe.waits)))
            .default("10/s")
            .doc("Samples of wait events per second, on a connection of its own; or off.")
            .example("off")
            .for_servers(),
        PlanKey::new("observe.host", PlanKeyKind::Word(&[], at!(observe.host)))
            .words(&[
                ("auto", "the database's, too, where it runs on this machine"),
                ("driver", "the load's alone: of the database's host nothing is looked at, as of a managed database"),
            ])
            .default("auto")
            .doc("Whose figures those of this machine are.")
            .example("driver")
            .for_servers(),
        PlanKey::new("observe.hosts", PlanKeyKind::Hosts(at!(observe.hosts)))
            .without("this one alone")
            .doc("Machines of the databases that are looked at beside this one: their processors, memory, devices and network.")
            .more("`ssh` needs nothing there but a login without a password; `node-exporter` reads Prometheus' node_exporter, \
                   `node-exporter+https` by TLS (`ca`; a user in the URL, and `password_env` or `password_file`); `agent` is a \
                   `dyno agent --observe-only`, and `agent://NAME` one of several. `target` is the number of a target in `target.urls`, `data` and `redo` are places there, where the database \
                   names none or runs in a container. Of a database with a machine here, all figures of the host are that machine's, \
                   and this one's stand beside them. See [hosts.md](../guides/hosts.md).")
            .example("ssh://db1")
            .for_servers(),
        PlanKey::new("observe.awr", PlanKeyKind::Word(&[], at!(observe.awr)))
            .words(&[
                ("off", "none, and nothing of the Diagnostics Pack is touched"),
                (
                    "statspack",
                    "snapshots of STATSPACK around the run, never of AWR; a run without them is refused",
                ),
                (
                    "awr",
                    "snapshots and the report of AWR; by writing this you confirm that the Diagnostics Pack is licensed; a run without them is refused",
                ),
            ])
            .default("off")
            .doc("Which of Oracle's own reports is made around a run.")
            .more("Dyno's own counters are read in any case. Other engines have no such reports.")
            .example("statspack")
            .for_servers(),
        PlanKey::new("observe.perf", PlanKeyKind::Flag(at!(observe.perf)))
            .default("false")
            .doc("Whether `perf` takes a profile of this host's processors over the window: by process, by function, \
                  and as a flame graph.")
            .more("Of Linux, and of this host only: where the database runs elsewhere it is a profile of the load's side. A run \
                   whose profile cannot be taken is measured all the same, and says why there is none.")
            .example("true"),
    ],
};
