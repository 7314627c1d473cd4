//! Keys of `[workload]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};
use crate::units::Rate;

/// The largest scale of a custom workload.
const SCALE_MAX: u32 = 1_000_000;

pub(super) const SECTION: PlanSection = PlanSection {
    name: "workload",
    title: "the load",
    doc: "What each session executes. The class of each operation is drawn independently: an update with \
          `update_pct`, an insert or a delete with `insert_pct` and `delete_pct`. The other operations are \
          reads: a full scan with `scan_pct`, a lookup with `lookup_pct`, a lookup by the secondary key with \
          `secondary_pct`, and otherwise a `select` of `work_unit` rows.",
    keys: &[
        PlanKey::new("workload.folder", PlanKeyKind::File(at!(workload.folder)))
            .without("the block workload")
            .doc("The folder of a custom workload: `workload.toml` and SQL files.")
            .more("Its transactions replace all operations below; of the keys of this section only `scale`, \
                   `mix`, `options`, `beside` and its settings, `commit`, `protocol`, `connect`, `rate`, \
                   `phases`, `arrivals`, `seed` and the think times apply to it. `dyno init --workload` \
                   writes an example.")
            .example("shop"),
        PlanKey::new("workload.scale", PlanKeyKind::Count(1, SCALE_MAX, at!(workload.scale)))
            .without("the default of the workload, or 1")
            .doc("The scale of the workload in `workload.folder`: rows of its tables, bounds of its \
                  generators.")
            .more("Data that was loaded with another scale must be loaded again.")
            .example("10"),
        PlanKey::new("workload.mix", PlanKeyKind::Name(at!(workload.mix)))
            .without("the default of the workload")
            .doc("The mix of the workload in `workload.folder`.")
            .example("writers"),
        PlanKey::new("workload.options", PlanKeyKind::Options(at!(workload.options)))
            .without("the defaults of the workload")
            .doc("Options of the workload in `workload.folder` with their values; `like=NAME` selects a \
                  predefined set.")
            .more("`dyno workload check` lists them. They also apply to workloads of the same folder in `workload.beside`.")
            .example("like=go-tpc"),
        PlanKey::new("workload.beside", PlanKeyKind::Folders(at!(workload.beside)))
            .without("none")
            .doc("Background workloads that run at the same time, each in its own sessions: for example \
                  writes at a fixed rate beside queries.")
            .more("Needs `workload.folder`, whose workload may be listed again with another mix. Results \
                   prefix the classes with the name of the workload, `writes.pay`, and with its mix if two \
                   workloads have the same name. `workload.scale` applies to all of them.")
            .example("writes"),
        PlanKey::new("workload.beside_mix", PlanKeyKind::Names(at!(workload.beside_mix)))
            .without("the defaults of the workloads")
            .doc("The mix of each workload in `workload.beside`; `own` selects the workload's default mix.")
            .example("writers"),
        PlanKey::new("workload.beside_sessions", PlanKeyKind::Counts(1, 100_000, at!(workload.beside_sessions)))
            .without("one each")
            .doc("Sessions of each workload in `workload.beside`, in addition to `run.sessions_per_schema`.")
            .example("2"),
        PlanKey::new(
            "workload.beside_rate",
            PlanKeyKind::Rates(Rate(0.001), Rate(100_000_000.0), at!(workload.beside_rate)),
        )
        .without("closed loops")
        .doc("The rate of each workload in `workload.beside` over all its sessions; off is closed loop.")
        .more("As an axis of a sweep it shows how the rate of one workload slows the other.")
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
            .more("Together with `scan_pct` and `lookup_pct` at most 100. Data that was loaded without a \
                   secondary key must be loaded again.")
            .unit("%")
            .example("10"),
        PlanKey::new("workload.insert_pct", PlanKeyKind::Count(0, 100, at!(workload.insert_pct)))
            .without("same as `delete_pct`, or none")
            .doc("Share of operations that insert one row and commit.")
            .more("Tables keep their size, because as many rows are deleted: each of the two keys sets the \
                   other, and if both are given they must be equal. A session inserts its own keys above the \
                   loaded ones.")
            .unit("%")
            .example("5"),
        PlanKey::new("workload.delete_pct", PlanKeyKind::Count(0, 100, at!(workload.delete_pct)))
            .without("same as `insert_pct`, or none")
            .doc("Share of operations that delete one row and commit.")
            .more("A session deletes the oldest of the rows that it inserted.")
            .unit("%")
            .example("5"),
        PlanKey::new("workload.work_unit", PlanKeyKind::Count(1, 1_000_000, at!(workload.work_unit)))
            .default("64")
            .doc("Rows, and so blocks, that one select or update touches.")
            .more("At most the number of rows of a schema.")
            .unit("blocks")
            .example("256")
            .active(),
        PlanKey::new("workload.keys", PlanKeyKind::Word(&[], at!(workload.keys)))
            .words(&[
                ("uniform", "all keys are equally likely"),
                ("zipf", "Zipf's law over the keys in scrambled order, so that popular keys are spread over \
                          the table"),
                ("latest", "Zipf's law from the last key down, so that popular keys are adjacent"),
            ])
            .default("uniform")
            .doc("Distribution of the keys.")
            .example("zipf"),
        PlanKey::new("workload.zipf_exponent", PlanKeyKind::Decimal(0.01, 10.0, at!(workload.zipf_exponent)))
            .default("0.99")
            .doc("Skew of `zipf` and `latest`: the k-th key is drawn in proportion to 1 ÷ k^exponent.")
            .example("1.2"),
        PlanKey::new("workload.hot_spot_every", PlanKeyKind::Count(0, 1_000_000, at!(workload.hot_spot_every)))
            .default("0")
            .doc("Every n-th operation of a session starts inside the hot spot; 0 is off.")
            .more("Scans have no key and are not counted.")
            .example("10"),
        PlanKey::new("workload.hot_spot_offset", PlanKeyKind::Size(true, at!(workload.hot_spot_offset)))
            .default("0 blocks")
            .doc("Where the hot spot begins: the number of keys, and so blocks, before it.")
            .example("16M"),
        PlanKey::new("workload.hot_spot_size", PlanKeyKind::Size(false, at!(workload.hot_spot_size)))
            .default("1M")
            .doc("Size of the hot spot in blocks (keys) or bytes.")
            .more("Operations start in it and may extend beyond its end. It must lie within the table.")
            .example("8M"),
        PlanKey::new("workload.hot_schema_every", PlanKeyKind::Count(0, 1_000_000, at!(workload.hot_schema_every)))
            .default("0")
            .doc("Every n-th operation of a session goes to schema 1; 0 is off.")
            .more("All other operations go to the session's own schema.")
            .example("10"),
        PlanKey::new("workload.think_every", PlanKeyKind::Count(0, 1_000_000, at!(workload.think_every)))
            .default("0")
            .doc("About one operation in n is followed by a think time; 0 is off.")
            .more("Drawn independently for each operation. Not in an open loop, where the rate determines \
                   when operations are due.")
            .example("5"),
        PlanKey::new("workload.think_min", PlanKeyKind::Span(millis(0), seconds(3_600), at!(workload.think_min)))
            .default("100ms")
            .doc("The shortest think time.")
            .example("50ms"),
        PlanKey::new("workload.think_max", PlanKeyKind::Span(millis(0), seconds(3_600), at!(workload.think_max)))
            .default("500ms")
            .doc("The longest think time; times are drawn uniformly between the two.")
            .example("1s"),
        PlanKey::new("workload.think_compensated", PlanKeyKind::Flag(at!(workload.think_compensated)))
            .default("false")
            .doc("Whether think time counts from the start of the operation: it is reduced by the duration \
                  of the operation, at most to 0.")
            .more("Then an occasional slow operation does not reduce the load.")
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
                ("client", "each operation is sent over the network: true response times, true commits"),
                ("server", "the loop runs inside the database: lowest client cost, most logical reads"),
            ])
            .default("client")
            .doc("Where the loop of operations runs.")
            .example("server"),
        PlanKey::new("workload.commit", PlanKeyKind::Word(&[], at!(workload.commit)))
            .words(&[
                (
                    "wait",
                    "each commit waits as the server is configured, by default until its redo is on storage",
                ),
                (
                    "nowait",
                    "no commit waits (Oracle: `COMMIT WRITE BATCH NOWAIT`; PostgreSQL: `synchronous_commit = off` in each session)",
                ),
                ("plsql", "commits run inside PL/SQL, which waits once at the end of a call (Oracle)"),
            ])
            .default("wait")
            .doc("How an update's commit waits for its redo.")
            .more("MySQL and MariaDB set this for all sessions (`SET GLOBAL innodb_flush_log_at_trx_commit`, \
                   `sync_binlog`), SQLite with `sync` in the URL: omit the key in their plans. With `nowait` \
                   the audit check durable_commits reports the number of syncs.")
            .example("nowait"),
        PlanKey::new("workload.protocol", PlanKeyKind::Word(&[], at!(workload.protocol)))
            .words(&[
                ("prepared", "each statement is prepared once per connection, and executed with bound values"),
                ("extended", "each statement is parsed and planned at every execution, with bound values (PostgreSQL)"),
                ("simple", "each statement is sent as text, with its values written out (PostgreSQL, MySQL, MariaDB)"),
            ])
            .default("prepared")
            .doc("How statements are sent to the server.")
            .more("Shows the cost of programs that do not prepare statements; compare runs that differ only \
                   in this key. MySQL and MariaDB cannot prepare and execute in one request, so they refuse \
                   `extended`.")
            .example("extended"),
        PlanKey::new("workload.connect", PlanKeyKind::Word(&[], at!(workload.connect)))
            .words(&[
                ("session", "each session keeps its connection"),
                ("transaction", "each transaction opens a connection, executes its steps and closes the \
                                 connection"),
            ])
            .default("session")
            .doc("How long a session keeps its connection; custom workloads only.")
            .more("Shows the cost of programs without a connection pool. The time to connect is part of the \
                   transaction's time and is also shown separately as `connect`. The time to close is not \
                   included, although the session waits until the server has closed its side. Statements are \
                   prepared when a connection first uses them.")
            .example("transaction"),
        PlanKey::new("workload.rate", PlanKeyKind::Rate(Rate(0.001), Rate(100_000_000.0), at!(workload.rate)))
            .default("off")
            .doc("Open loop at this many operations per second over all sessions; off is closed loop.")
            .more("In a closed loop a session starts its next operation when the one before has ended. In an \
                   open loop operations are due at scheduled times, and response time counts from that time, \
                   so a stall affects every operation that it delays.")
            .example("5000/s"),
        PlanKey::new("workload.phases", PlanKeyKind::Phases(at!(workload.phases)))
            .without("one rate, or none")
            .doc("Open loop at a rate that follows a schedule, in one run with figures for each phase.")
            .more("Phases follow each other, and the window is as long as all of them together: omit \
                   `run.time`. The warm-up runs at the initial rate of the first phase. A CSV has lines of \
                   TIME,RATE: seconds starting at 0, and operations per second; the rate is interpolated \
                   linearly between them. Cannot be combined with `rate` or `ops_per_session`.")
            .example("ramp 0..1000/s 30s, hold 1000/s 30s"),
        PlanKey::new("workload.arrivals", PlanKeyKind::Word(&[], at!(workload.arrivals)))
            .words(&[
                ("poisson", "independent arrivals, as from many users"),
                ("constant", "evenly spaced"),
            ])
            .default("poisson")
            .doc("Distribution of the arrivals in an open loop.")
            .example("constant"),
        PlanKey::new("workload.seed", PlanKeyKind::Seed(at!(workload.seed)))
            .default("fresh")
            .doc("Seed of the operations' random values.")
            .more("`fresh`: every run draws different operations, and its record has the seed. A number \
                   draws the same operations each time: every run then finds the data of the run before it \
                   in the caches.")
            .example("2"),
    ],
};
