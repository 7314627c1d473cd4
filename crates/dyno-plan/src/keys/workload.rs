//! Keys of `[workload]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};
use crate::units::Rate;

/// The largest scale of a custom workload.
const SCALE_MAX: u32 = 1_000_000;

pub(super) const SECTION: PlanSection = PlanSection {
    name: "workload",
    title: "the load",
    doc: "What each session does, operation after operation. Each operation's class is drawn independently: an update with \
          `update_pct`, an insert or a delete with `insert_pct` and `delete_pct`; else a full scan with `scan_pct`, a lookup \
          with `lookup_pct`, a lookup by the secondary key with `secondary_pct`, and a `select` of `work_unit` rows with what \
          is left.",
    keys: &[
        PlanKey::new("workload.folder", PlanKeyKind::File(at!(workload.folder)))
            .without("the classic method")
            .doc("The folder of a workload of your own: `workload.toml` and SQL files.")
            .more("Its transactions take the place of all operations below; of the keys of this section only `rate`, \
                   `arrivals`, `seed`, `commit` and the think times go together with it. `dyno init --workload` writes an \
                   example.")
            .example("shop"),
        PlanKey::new("workload.scale", PlanKeyKind::Count(1, SCALE_MAX, at!(workload.scale)))
            .without("what the workload says, else 1")
            .doc("The scale of the workload in `workload.folder`: rows of its tables, bounds of its draws.")
            .more("Data that was loaded with another scale must be loaded again.")
            .example("10"),
        PlanKey::new("workload.mix", PlanKeyKind::Name(at!(workload.mix)))
            .without("the one that the workload names")
            .doc("Which of the mixes of the workload in `workload.folder` is run.")
            .example("writers"),
        PlanKey::new("workload.options", PlanKeyKind::Options(at!(workload.options)))
            .without("the workload's own defaults")
            .doc("Options of the workload in `workload.folder` with their values; `like=NAME` is a whole set of them.")
            .more("`dyno workload check` lists them. They also apply to workloads of the same folder in `workload.beside`.")
            .example("like=go-tpc"),
        PlanKey::new("workload.beside", PlanKeyKind::Folders(at!(workload.beside)))
            .without("none")
            .doc("Workloads that run at the same time, each in sessions of its own: writes at a fixed rate beside queries.")
            .more("Needs `workload.folder`, which it may repeat with another mix. Its classes bear its name in \
                   results, `writes.pay`, or with its mix where two have one name. `workload.scale` is for all of them.")
            .example("writes"),
        PlanKey::new("workload.beside_mix", PlanKeyKind::Names(at!(workload.beside_mix)))
            .without("those that the workloads name")
            .doc("The mix of each workload in `workload.beside`; `own` is the one that it names.")
            .example("writers"),
        PlanKey::new("workload.beside_sessions", PlanKeyKind::Counts(1, 100_000, at!(workload.beside_sessions)))
            .without("one each")
            .doc("Sessions of each workload in `workload.beside`, on top of those of `run.sessions_per_schema`.")
            .example("2"),
        PlanKey::new(
            "workload.beside_rate",
            PlanKeyKind::Rates(Rate(0.001), Rate(100_000_000.0), at!(workload.beside_rate)),
        )
        .without("closed loops")
        .doc("The rate of each workload in `workload.beside` over its sessions; off is closed loop.")
        .more("As an axis of a sweep it shows what the rate of the one costs the other.")
        .example("200/s"),
        PlanKey::new("workload.update_pct", PlanKeyKind::Count(0, 100, at!(workload.update_pct)))
            .default("0")
            .doc("Share of operations that are updates; each is one commit.")
            .unit("%")
            .example("20")
            .active(),
        PlanKey::new("workload.scan_pct", PlanKeyKind::Count(0, 100, at!(workload.scan_pct)))
            .default("0")
            .doc("Share of the reads that are full scans of the second table.")
            .more("Needs `data.scan_scale`; together with `lookup_pct` and `secondary_pct` at most 100.")
            .unit("%")
            .example("5"),
        PlanKey::new("workload.lookup_pct", PlanKeyKind::Count(0, 100, at!(workload.lookup_pct)))
            .default("0")
            .doc("Share of the reads that are lookups of a single row by key.")
            .more("Together with `scan_pct` and `secondary_pct` at most 100.")
            .unit("%")
            .example("100"),
        PlanKey::new("workload.secondary_pct", PlanKeyKind::Count(0, 100, at!(workload.secondary_pct)))
            .default("0")
            .doc("Share of the reads that are lookups of about 25 rows by the secondary key.")
            .more("Together with `scan_pct` and `lookup_pct` at most 100. Data that was loaded before there was a secondary \
                   key must be loaded anew.")
            .unit("%")
            .example("10"),
        PlanKey::new("workload.insert_pct", PlanKeyKind::Count(0, 100, at!(workload.insert_pct)))
            .without("as `delete_pct`, or none")
            .doc("Share of operations that insert one row and commit.")
            .more("Tables keep their size: as many are deleted, so each of the two keys gives the other, and both must be \
                   the same where both are given. A session inserts keys of its own above the loaded ones.")
            .unit("%")
            .example("5"),
        PlanKey::new("workload.delete_pct", PlanKeyKind::Count(0, 100, at!(workload.delete_pct)))
            .without("as `insert_pct`, or none")
            .doc("Share of operations that delete one row and commit.")
            .more("A session deletes the oldest row that it has inserted itself.")
            .unit("%")
            .example("5"),
        PlanKey::new("workload.work_unit", PlanKeyKind::Count(1, 1_000_000, at!(workload.work_unit)))
            .default("64")
            .doc("Rows, hence blocks, that one select or update touches.")
            .more("Not more than the rows of a schema.")
            .unit("blocks")
            .example("256")
            .active(),
        PlanKey::new("workload.keys", PlanKeyKind::Word(&[], at!(workload.keys)))
            .words(&[
                ("uniform", "all keys alike"),
                ("zipf", "Zipf's law over the keys in a scrambled order, so that popular ones lie anywhere"),
                ("latest", "Zipf's law from the last key down, so that popular ones lie together"),
            ])
            .default("uniform")
            .doc("How keys are drawn.")
            .example("zipf"),
        PlanKey::new("workload.zipf_exponent", PlanKeyKind::Decimal(0.01, 10.0, at!(workload.zipf_exponent)))
            .default("0.99")
            .doc("How much `zipf` and `latest` lean: the k-th key is drawn in proportion to 1 ÷ k^exponent.")
            .example("1.2"),
        PlanKey::new("workload.hot_spot_every", PlanKeyKind::Count(0, 1_000_000, at!(workload.hot_spot_every)))
            .default("0")
            .doc("Every n-th operation of a session starts inside the hot spot; 0 is off.")
            .more("Scans have no key and are not counted.")
            .example("10"),
        PlanKey::new("workload.hot_spot_offset", PlanKeyKind::Size(true, at!(workload.hot_spot_offset)))
            .default("0 blocks")
            .doc("Where the hot spot begins: so many keys, hence blocks, lie before it.")
            .example("16M"),
        PlanKey::new("workload.hot_spot_size", PlanKeyKind::Size(false, at!(workload.hot_spot_size)))
            .default("1M")
            .doc("Size of the hot spot in blocks (keys) or bytes.")
            .more("Operations start in it and may reach beyond its end. It must lie within the table.")
            .example("8M"),
        PlanKey::new("workload.hot_schema_every", PlanKeyKind::Count(0, 1_000_000, at!(workload.hot_schema_every)))
            .default("0")
            .doc("Every n-th operation of a session goes to schema 1; 0 is off.")
            .more("All others go to the session's own schema.")
            .example("10"),
        PlanKey::new("workload.think_every", PlanKeyKind::Count(0, 1_000_000, at!(workload.think_every)))
            .default("0")
            .doc("About one operation in n is followed by a sleep; 0 is off.")
            .more("Each operation draws independently. Not in an open loop, where the rate says when operations are due.")
            .example("5"),
        PlanKey::new("workload.think_min", PlanKeyKind::Span(millis(0), seconds(3_600), at!(workload.think_min)))
            .default("100ms")
            .doc("The shortest sleep.")
            .example("50ms"),
        PlanKey::new("workload.think_max", PlanKeyKind::Span(millis(0), seconds(3_600), at!(workload.think_max)))
            .default("500ms")
            .doc("The longest sleep; lengths are drawn evenly between the two.")
            .example("1s"),
        PlanKey::new("workload.think_compensated", PlanKeyKind::Flag(at!(workload.think_compensated)))
            .default("false")
            .doc("Whether a sleep counts from the operation's begin: it is shorter by the time that the operation took, \
                  down to none.")
            .more("So operations that are slow for once do not slow the load down.")
            .example("true"),
        PlanKey::new("workload.redo", PlanKeyKind::Word(&[], at!(workload.redo)))
            .words(&[
                ("lite", "an update sets 2 columns"),
                ("heavy", "an update sets all 19 columns"),
            ])
            .default("lite")
            .doc("How much an update writes.")
            .example("heavy"),
        PlanKey::new("workload.drive", PlanKeyKind::Word(&[], at!(workload.drive)))
            .words(&[
                ("client", "each operation crosses the wire: true response times, true commits"),
                ("server", "the loop runs inside the database: least client cost, the most logical reads"),
            ])
            .default("client")
            .doc("Where the loop runs.")
            .example("server"),
        PlanKey::new("workload.commit", PlanKeyKind::Word(&[], at!(workload.commit)))
            .words(&[
                (
                    "wait",
                    "each commit waits as the server's own settings say, which is until its redo is on storage",
                ),
                (
                    "nowait",
                    "no commit waits (Oracle: `COMMIT WRITE BATCH NOWAIT`; PostgreSQL: `synchronous_commit = off` in each session)",
                ),
                ("plsql", "commits run inside PL/SQL, which waits once at the end of a call (Oracle)"),
            ])
            .default("wait")
            .doc("How an update's commit waits for its redo.")
            .more("MySQL and MariaDB decide it for all sessions (`SET GLOBAL innodb_flush_log_at_trx_commit`, `sync_binlog`), \
                   SQLite by `sync` in the URL: their plans leave it out. With `nowait` the audit's durable_commits says how \
                   few syncs there were.")
            .example("nowait"),
        PlanKey::new("workload.protocol", PlanKeyKind::Word(&[], at!(workload.protocol)))
            .words(&[
                ("prepared", "each statement is prepared once for each connection, and executed with bound values"),
                ("extended", "each statement is parsed and planned at every execution, with bound values (PostgreSQL)"),
                ("simple", "each statement is sent as text, with its values written out (PostgreSQL, MySQL, MariaDB)"),
            ])
            .default("prepared")
            .doc("How statements come to the server.")
            .more("What programs do that prepare nothing, and what that costs: the same statements by another protocol are another \
                   setting to compare. MySQL and MariaDB have no way to prepare and execute at once, and refuse `extended`.")
            .example("extended"),
        PlanKey::new("workload.connect", PlanKeyKind::Word(&[], at!(workload.connect)))
            .words(&[
                ("session", "each session keeps its connection"),
                ("transaction", "each transaction opens a connection, does its steps and closes it"),
            ])
            .default("session")
            .doc("How long a session keeps its connection; a workload of your own SQL only.")
            .more("What programs without a pool of connections pay. The time of connecting is part of the transaction's time, and is \
                   shown apart as `connect`; that of closing is not, though the session waits until the server has ended its side. \
                   Statements are prepared at their first use on a connection.")
            .example("transaction"),
        PlanKey::new("workload.rate", PlanKeyKind::Rate(Rate(0.001), Rate(100_000_000.0), at!(workload.rate)))
            .default("off")
            .doc("Open loop at this many operations per second over all sessions; off is closed loop.")
            .more("In a closed loop a session issues its next operation when the last has ended. In an open loop operations are \
                   due on a schedule, and response time counts from the due moment, so a stall is seen by every operation it \
                   delays.")
            .example("5000/s"),
        PlanKey::new("workload.phases", PlanKeyKind::Phases(at!(workload.phases)))
            .without("one rate, or none")
            .doc("Open loop at a rate that changes by a schedule, in one run with figures for each phase.")
            .more("Phases follow each other, and the window is as long as all of them: leave `run.time` out. The warm-up runs at the \
                   rate that the first one begins with. A CSV has lines of TIME,RATE, seconds from 0 on and operations per second; \
                   the rate goes from each to the next in a straight line. Not together with `rate` or `ops_per_session`.")
            .example("ramp 0..1000/s 30s, hold 1000/s 30s"),
        PlanKey::new("workload.arrivals", PlanKeyKind::Word(&[], at!(workload.arrivals)))
            .words(&[
                ("poisson", "independent arrivals, as from many users"),
                ("constant", "evenly spaced"),
            ])
            .default("poisson")
            .doc("How the operations of an open loop are spaced.")
            .example("constant"),
        PlanKey::new("workload.seed", PlanKeyKind::Seed(at!(workload.seed)))
            .default("fresh")
            .doc("Seed of the operations' random draws.")
            .more("`fresh`: every run draws operations of its own, and its record names the seed. A number draws the same \
                   operations each time: a run again finds in every cache what the run before it has read.")
            .example("2"),
    ],
};
