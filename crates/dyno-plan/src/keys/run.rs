//! Keys of `[run]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};

/// An hour and a day, for limits.
const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;

pub(super) const SECTION: PlanSection = PlanSection {
    name: "run",
    title: "the run",
    doc: "How many sessions run, and for how long. All sessions connect and prepare, start together, and \
          warm up. Then the window begins, and only operations inside it count. Sessions keep working until \
          after the window's last snapshot, so the window has neither ramp nor idle tail.",
    keys: &[
        PlanKey::new("run.sessions_per_schema", PlanKeyKind::Count(1, 100_000, at!(run.sessions_per_schema)))
            .default("1")
            .doc(
                "Sessions on each schema; a session is one connection that executes one operation at a time.",
            )
            .more("At most 100,000 over all schemas.")
            .example("16")
            .active(),
        PlanKey::new("run.threads", PlanKeyKind::Count(1, 1_024, at!(run.threads)))
            .without("none: one per processor")
            .doc("Threads of Dyno that drive the sessions.")
            .more(
                "For client drive on engines that use a socket; otherwise each session has its own thread. \
                 Never more threads than sessions.",
            )
            .example("4"),
        PlanKey::new("run.placement", PlanKeyKind::Word(&[], at!(run.placement)))
            .words(&[
                (
                    "auto",
                    "each thread stays on its own processor and drives the sessions whose server process \
                     runs there",
                ),
                ("none", "the operating system places threads and processes"),
            ])
            .default("auto")
            .doc("How threads and sessions are placed on processors if the server runs on this host.")
            .more(
                "It changes the platform: compare only runs with the same placement. For client drive on \
                 PostgreSQL, MySQL and MariaDB, which report the process or thread of a session; other \
                 engines are not placed. The result names the placement used.",
            )
            .example("none")
            .for_servers(),
        PlanKey::new("run.warmup", PlanKeyKind::Span(seconds(0), seconds(DAY_S), at!(run.warmup)))
            .default("5s")
            .doc("Load before the window that is not counted.")
            .example("5m")
            .active(),
        PlanKey::new("run.time", PlanKeyKind::Span(seconds(1), seconds(30 * DAY_S), at!(run.time)))
            .default("60s")
            .doc("Length of the window.")
            .more("Cannot be combined with `ops_per_session`.")
            .example("10m")
            .active(),
        PlanKey::new(
            "run.ops_per_session",
            PlanKeyKind::Number(1, 1_000_000_000_000, at!(run.ops_per_session)),
        )
        .without("none: `time` applies")
        .doc("Instead of a time: the window ends when every session has executed this many operations.")
        .more("Cannot be combined with `time`.")
        .example("100000"),
        PlanKey::new("run.drain", PlanKeyKind::Span(millis(100), seconds(HOUR_S), at!(run.drain)))
            .default("10s")
            .doc("Time limit for operations that are still in progress after the window.")
            .example("1m"),
        PlanKey::new("run.drop_page_cache", PlanKeyKind::Flag(at!(run.drop_page_cache)))
            .default("false")
            .doc("Whether this host's page cache is written back and dropped before each run.")
            .more(
                "Needs root on the database's host (`/proc/sys/vm/drop_caches`). It also drops cached data \
                 of other programs. The data that a run reads is cached again; the audit reports how much \
                 the run read from the page cache.",
            )
            .example("true"),
        PlanKey::new("run.on_lost", PlanKeyKind::Word(&[], at!(run.on_lost)))
            .words(&[
                (
                    "fail",
                    "sessions try to reconnect for 30 s, and the run fails if the database's counters cannot \
                     be read",
                ),
                (
                    "reconnect",
                    "sessions and observers try to reconnect until the run ends, and the outage is measured",
                ),
            ])
            .default("fail")
            .doc(
                "What happens if sessions lose the database connection: for tests of a failover or a restart.",
            )
            .more(
                "With `reconnect` the record lists each outage: the last response before it and the first \
                 after it, failed operations, commits in doubt, and the throughput before and after. Needs a \
                 window with `time`.",
            )
            .example("reconnect")
            .for_servers(),
    ],
};
