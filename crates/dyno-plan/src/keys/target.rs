//! Keys of `[target]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};

pub(super) const SECTION: PlanSection = PlanSection {
    name: "target",
    title: "the database",
    doc: "Which database is measured, and how to connect to it. A plan never contains a password.",
    keys: &[
        PlanKey::new("target.url", PlanKeyKind::Url(at!(target)))
            .doc("URL of the database.")
            .more("`--target URL` overrides it. A relative SQLite path starts at the directory in which Dyno \
                   is started. Write characters that have a meaning in a URL as `%XX`: `?` in a file name is \
                   `%3F`. A Unix socket is `postgres:///bench?host=/run/postgresql` or \
                   `mysql:///bench?socket=/run/mysqld/mysqld.sock`; write an IPv6 address in brackets. TLS \
                   is `sslmode` (`disable` to `verify-full`) for PostgreSQL, `ssl-mode` (`DISABLED` to \
                   `VERIFY_IDENTITY`) for MySQL and MariaDB (`mysql://`, `mariadb://`), and `protocol=tcps` \
                   for Oracle. `oracle://USER@/ALIAS` reads the alias from `tnsnames.ora`.")
            .example("postgres://dyno@db1:5432/bench?sslmode=verify-full")
            .active(),
        PlanKey::new("target.urls", PlanKeyKind::Urls(at!(target)))
            .without("none: only `url`")
            .doc("Several databases that are measured together, instead of one.")
            .more("Sessions are assigned to them in turn, or by `weights`. All sessions start at one gate, \
                   and each database has its own row in the result (`docs/guides/targets.md`). `--target`, \
                   given several times, overrides it. Cannot be combined with `url`.")
            .example("postgres://dyno@db1/bench, postgres://dyno@db2/bench")
            .for_servers(),
        PlanKey::new("target.count", PlanKeyKind::Count(1, 100, at!(target.count)))
            .without("none: all of them")
            .doc("How many of `urls` are used, starting with the first.")
            .more("As an axis of a sweep it compares one node with two and three: `\"target.count\" = [1, 2, 3]`.")
            .example("2")
            .for_servers(),
        PlanKey::new("target.weights", PlanKeyKind::Counts(1, 1_000, at!(target.weights)))
            .without("none: equal shares")
            .doc("Relative number of sessions of each of `urls`.")
            .more("One number per URL.")
            .example("2, 1")
            .for_servers(),
        PlanKey::new("target.data", PlanKeyKind::Word(&[], at!(target.data)))
            .words(&[
                (
                    "each",
                    "each of `urls` has its own copy of the data, loaded and dropped separately (servers, \
                     versions, PDBs)",
                ),
                (
                    "shared",
                    "all of `urls` lead to the same data, loaded and dropped through the first one that \
                     accepts writes (services and nodes of a cluster, replicas)",
                ),
            ])
            .default("each")
            .doc("Whether several targets share their data.")
            .example("shared")
            .for_servers(),
        PlanKey::new("target.shared", PlanKeyKind::Flag(at!(target.shared)))
            .default("false")
            .doc("Whether other Dyno processes may use the same server at the same time.")
            .more("Redo, writes, checkpoints and CPU are measured for the whole server, so two Dyno \
                   processes on two databases of one server measure each other, and the second is refused. \
                   If all their plans have `true`, they run, and the server's figures are marked. Two Dyno \
                   processes on one database are always refused.")
            .example("true")
            .for_servers(),
        PlanKey::new("target.observe_url", PlanKeyKind::Url(at!(target.observe_url)))
            .without("none: `url` itself")
            .doc("URL of the database server itself, if `url` is a pooler in front of it (PostgreSQL).")
            .more("Sessions connect through the pooler, as the application does; observer, sampler, checks, \
                   loads and the lock connect to the server. The password is the same for both, or each has \
                   its own in `~/.pgpass`. Cannot be combined with `urls` or `workload.drive = \"server\"`. \
                   `docs/reference/engines/postgres.md` explains the figures in this case.")
            .example("postgres://dyno@db1:5432/bench")
            .for_servers(),
        PlanKey::new("target.password_env", PlanKeyKind::Variable(at!(target.password_env)))
            .without("none")
            .doc("The environment variable that holds the password.")
            .more("Of several targets, for all. Cannot be combined with `password_file`.")
            .example("DYNO_PASSWORD")
            .for_servers(),
        PlanKey::new("target.password_file", PlanKeyKind::File(at!(target.password_file)))
            .without("none")
            .doc("The file whose first line is the password.")
            .more("Of several targets, for all. Cannot be combined with `password_env`.")
            .example("/run/secrets/dyno")
            .for_servers(),
        PlanKey::new("target.connect_timeout", PlanKeyKind::Span(millis(100), seconds(600), at!(target.connect_timeout)))
            .default("10s")
            .doc("Time limit for opening one connection.")
            .example("30s")
            .for_servers(),
    ],
};
