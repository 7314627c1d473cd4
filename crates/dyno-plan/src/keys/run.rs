//! Keys of `[run]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};

/// An hour and a day, for limits.
const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;

pub(super) const SECTION: PlanSection = PlanSection {
    name: "run",
    title: "the run",
    doc: "How many sessions, for how long. All sessions connect and prepare, start at one instant, and warm up; then comes the \
          window, and only what happens inside it counts. Sessions keep working until after the window's last snapshot, so it \
          has neither ramp nor idle tail.",
    keys: &[
        PlanKey::new("run.sessions_per_schema", PlanKeyKind::Count(1, 100_000, at!(run.sessions_per_schema)))
            .default("1")
            .doc("Sessions on each schema; each is one connection doing one operation at a time.")
            .more("At most 100,000 over all schemas.")
            .example("16")
            .active(),
        PlanKey::new("run.threads", PlanKeyKind::Count(1, 1_024, at!(run.threads)))
            .without("none: one per processor")
            .doc("Threads of Dyno that lead the sessions.")
            .more("For client drive on an engine that is reached by a socket; elsewhere each session has a thread of its \
                   own. Never more than sessions.")
            .example("4"),
        PlanKey::new("run.placement", PlanKeyKind::Word(&[], at!(run.placement)))
            .words(&[
                (
                    "auto",
                    "each thread stays on a processor of its own and leads the sessions for which the server works there",
                ),
                (
                    "none",
                    "the operating system alone places threads and processes, as it does with most programs",
                ),
            ])
            .default("auto")
            .doc("How threads and sessions are placed where the server runs on this machine.")
            .more("It changes the platform: compare runs of one placement only. For client drive on PostgreSQL, MySQL and \
                   MariaDB, which tell the process or thread that works for a session; elsewhere nothing is placed. The result \
                   says what was done.")
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
            .more("Not together with `ops_per_session`.")
            .example("10m")
            .active(),
        PlanKey::new("run.ops_per_session", PlanKeyKind::Number(1, 1_000_000_000_000, at!(run.ops_per_session)))
            .without("none: `time` counts")
            .doc("Instead of a time: the window ends when every session has done this many operations.")
            .more("Not together with `time`.")
            .example("100000"),
        PlanKey::new("run.drain", PlanKeyKind::Span(millis(100), seconds(HOUR_S), at!(run.drain)))
            .default("10s")
            .doc("The longest wait for operations still under way after the window.")
            .example("1m"),
        PlanKey::new("run.drop_page_cache", PlanKeyKind::Flag(at!(run.drop_page_cache)))
            .default("false")
            .doc("Whether this host's page cache is written back and dropped before each run.")
            .more("Takes root on the database's host (`/proc/sys/vm/drop_caches`). What others read there is gone from the cache, \
                   too; and what a run reads goes into it again: the audit says how much came from there all the same.")
            .example("true"),
        PlanKey::new("run.on_lost", PlanKeyKind::Word(&[], at!(run.on_lost)))
            .words(&[
                (
                    "fail",
                    "sessions try to connect again for 30 s, and the run fails when the database's counters cannot be read",
                ),
                (
                    "reconnect",
                    "sessions and observers try to connect again until the run ends, and the outage is measured",
                ),
            ])
            .default("fail")
            .doc("What happens when sessions lose the database: for tests of a failover or a restart.")
            .more("With `reconnect` the record has each outage: the last answer before it and the first after it, failed operations, \
                   commits in doubt, and the throughput before and after. Only with a window that ends by `time`.")
            .example("reconnect")
            .for_servers(),
    ],
};
