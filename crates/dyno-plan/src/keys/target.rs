//! Keys of `[target]`.

use super::kind::{millis, seconds};
use super::{PlanKey, PlanKeyKind, PlanSection, at};

pub(super) const SECTION: PlanSection = PlanSection {
    name: "target",
    title: "the database",
    doc: "Which database is measured, and how to reach it. A plan never holds a password.",
    keys: &[
        PlanKey::new("target.url", PlanKeyKind::Url(at!(target)))
            .doc("Where the database is.")
            .more("`--target URL` overrides it. A relative SQLite path counts from the directory in which Dyno is started. \
                   Characters that mean something in a URL are written as `%XX`: `?` in a file name is `%3F`. A Unix socket \
                   is `postgres:///bench?host=/run/postgresql` or `mysql:///bench?socket=/run/mysqld/mysqld.sock`, an IPv6 \
                   address stands in brackets, `sslmode` (`disable` to `verify-full`) asks for TLS, for MySQL and MariaDB \
                   (`mysql://`, `mariadb://`) `ssl-mode` (`DISABLED` to `VERIFY_IDENTITY`), for Oracle `protocol=tcps`; \
                   `oracle://USER@/ALIAS` asks `tnsnames.ora`.")
            .example("postgres://dyno@db1:5432/bench?sslmode=verify-full")
            .active(),
        PlanKey::new("target.urls", PlanKeyKind::Urls(at!(target)))
            .without("none: `url` is the only one")
            .doc("Several databases that are driven together, instead of one.")
            .more("Sessions are dealt to them in turn, or by `weights`; one gate opens for all, and each has its own row in \
                   the result (`docs/guides/targets.md`). `--target`, given several times, overrides it. Not together with `url`.")
            .example("postgres://dyno@db1/bench, postgres://dyno@db2/bench")
            .for_servers(),
        PlanKey::new("target.count", PlanKeyKind::Count(1, 100, at!(target.count)))
            .without("none: all of them")
            .doc("How many of `urls` are driven, from the first on.")
            .more("As an axis of a sweep it compares one node with two and three: `\"target.count\" = [1, 2, 3]`.")
            .example("2")
            .for_servers(),
        PlanKey::new("target.weights", PlanKeyKind::Counts(1, 1_000, at!(target.weights)))
            .without("none: all alike")
            .doc("How many sessions each of `urls` gets for those of the others.")
            .more("As many numbers as there are URLs.")
            .example("2, 1")
            .for_servers(),
        PlanKey::new("target.data", PlanKeyKind::Word(&[], at!(target.data)))
            .words(&[
                (
                    "each",
                    "each of `urls` has a copy of its own, loaded and dropped on each (servers, versions, PDBs)",
                ),
                (
                    "shared",
                    "all of `urls` reach the same data, loaded and dropped through the first that takes writes (services and nodes of a cluster, replicas)",
                ),
            ])
            .default("each")
            .doc("Which data several targets hold.")
            .example("shared")
            .for_servers(),
        PlanKey::new("target.shared", PlanKeyKind::Flag(at!(target.shared)))
            .default("false")
            .doc("Whether other Dynos may be at work on the same server.")
            .more("Redo, writes, checkpoints and CPU are the server's, so two Dynos on two databases of one server measure \
                   each other, and the second is refused. Where all of their plans say `true`, they run, and the server's \
                   figures are marked. Two Dynos on one database are refused all the same.")
            .example("true")
            .for_servers(),
        PlanKey::new("target.observe_url", PlanKeyKind::Url(at!(target.observe_url)))
            .without("none: `url` itself")
            .doc("The database server itself, where `url` is a pooler in front of it (PostgreSQL).")
            .more("Sessions go through the pooler, as the application does; observer, sampler, checks, loads and the lock \
                   go to the server. The password is the same for both, or each has its own in `~/.pgpass`. Not together \
                   with `urls` and `workload.drive = \"server\"`. `docs/reference/engines/postgres.md` says what the figures are \
                   then.")
            .example("postgres://dyno@db1:5432/bench")
            .for_servers(),
        PlanKey::new("target.password_env", PlanKeyKind::Variable(at!(target.password_env)))
            .without("none")
            .doc("The environment variable that holds the password.")
            .more("Of several targets, for all. Not together with `password_file`.")
            .example("DYNO_PASSWORD")
            .for_servers(),
        PlanKey::new("target.password_file", PlanKeyKind::File(at!(target.password_file)))
            .without("none")
            .doc("The file whose first line is the password.")
            .more("Of several targets, for all. Not together with `password_env`.")
            .example("/run/secrets/dyno")
            .for_servers(),
        PlanKey::new("target.connect_timeout", PlanKeyKind::Span(millis(100), seconds(600), at!(target.connect_timeout)))
            .default("10s")
            .doc("The longest wait for one connection.")
            .example("30s")
            .for_servers(),
    ],
};
