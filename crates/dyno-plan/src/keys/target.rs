//! Keys of `[target]`.

use super::kind::{millis, seconds};
use super::{Fallback, Key, Kind, Section, Shown, Word};
use crate::plan::Holding;

pub(super) const SECTION: Section = Section {
    name: "target",
    title: "the database",
    doc: "Which database is measured, and how to reach it. A plan never holds a password.",
    keys: &[
        Key {
            path: "target.url",
            kind: Kind::Url { set: |plan, url| plan.target.url = url },
            unit: "",
            default: Fallback::Required,
            doc: "Where the database is.",
            more: "`--target URL` overrides it. A relative SQLite path counts from the directory in which Dyno is started. \
                   Characters that mean something in a URL are written as `%XX`: `?` in a file name is `%3F`. \
                   A Unix socket is `postgres:///bench?host=/run/postgresql` or `mysql:///bench?socket=/run/mysqld/mysqld.sock`, \
                   an IPv6 address stands in brackets, `sslmode` (`disable` to `verify-full`) asks for TLS, for MySQL and \
                   MariaDB (`mysql://`, `mariadb://`) `ssl-mode` (`DISABLED` to `VERIFY_IDENTITY`), for Oracle \
                   `protocol=tcps`; `oracle://USER@/ALIAS` asks `tnsnames.ora`.",
            example: "postgres://dyno@db1:5432/bench?sslmode=verify-full",
            shown: Shown::Active,
            get: |plan| plan.target.urls.is_empty().then(|| plan.target.url.to_string()),
        },
        Key {
            path: "target.urls",
            kind: Kind::Urls {
                set: |plan, urls| {
                    plan.target.url = urls[0].clone();
                    plan.target.urls = urls;
                },
            },
            unit: "",
            default: Fallback::None("none: `url` is the only one"),
            doc: "Several databases that are driven together, instead of one.",
            more: "Sessions are dealt to them in turn, or by `weights`; one gate opens for all, and each has its own row in the result \
                   (`docs/targets.md`). `--target`, given several times, overrides it. Not together with `url`.",
            example: "postgres://dyno@db1/bench, postgres://dyno@db2/bench",
            shown: Shown::CommentedForServers,
            get: |plan| {
                let urls: Vec<_> = plan.target.urls.iter().map(ToString::to_string).collect();
                (!urls.is_empty()).then(|| urls.join(", "))
            },
        },
        Key {
            path: "target.count",
            kind: Kind::Count { range: (1, 100), set: |plan, value| plan.target.count = Some(value) },
            unit: "",
            default: Fallback::None("none: all of them"),
            doc: "How many of `urls` are driven, from the first on.",
            more: "As an axis of a sweep it compares one node with two and three: `\"target.count\" = [1, 2, 3]`.",
            example: "2",
            shown: Shown::CommentedForServers,
            get: |plan| plan.target.count.map(|count| count.to_string()),
        },
        Key {
            path: "target.weights",
            kind: Kind::Counts { range: (1, 1_000), set: |plan, weights| plan.target.weights = weights },
            unit: "",
            default: Fallback::None("none: all alike"),
            doc: "How many sessions each of `urls` gets for those of the others.",
            more: "As many numbers as there are URLs.",
            example: "2, 1",
            shown: Shown::CommentedForServers,
            get: |plan| {
                let weights: Vec<_> = plan.target.weights.iter().map(ToString::to_string).collect();
                (!weights.is_empty()).then(|| weights.join(", "))
            },
        },
        Key {
            path: "target.data",
            kind: Kind::Word(&[
                Word {
                    word: "each",
                    means: "each of `urls` has a copy of its own, loaded and dropped on each (servers, versions, PDBs)",
                    set: |plan| plan.target.data = Holding::Each,
                },
                Word {
                    word: "shared",
                    means: "all of `urls` reach the same data, loaded and dropped through the first that takes writes (services and nodes of a cluster, replicas)",
                    set: |plan| plan.target.data = Holding::Shared,
                },
            ]),
            unit: "",
            default: Fallback::Value("each"),
            doc: "Which data several targets hold.",
            more: "",
            example: "shared",
            shown: Shown::CommentedForServers,
            get: |plan| Some(plan.target.data.name().to_owned()),
        },
        Key {
            path: "target.shared",
            kind: Kind::Flag { set: |plan, flag| plan.target.shared = flag },
            unit: "",
            default: Fallback::Value("false"),
            doc: "Whether other Dynos may be at work on the same server.",
            more: "Redo, writes, checkpoints and CPU are the server's, so two Dynos on two databases of one server measure each other, \
                   and the second is refused. Where all of their plans say `true`, they run, and the server's figures are marked. Two \
                   Dynos on one database are refused all the same.",
            example: "true",
            shown: Shown::CommentedForServers,
            get: |plan| Some(plan.target.shared.to_string()),
        },
        Key {
            path: "target.observe_url",
            kind: Kind::Url { set: |plan, url| plan.target.observe_url = Some(url) },
            unit: "",
            default: Fallback::None("none: `url` itself"),
            doc: "The database server itself, where `url` is a pooler in front of it (PostgreSQL).",
            more: "Sessions go through the pooler, as the application does; observer, sampler, checks, loads and the lock go to the server. \
                   The password is the same for both, or each has its own in `~/.pgpass`. Not together with `urls` and \
                   `workload.drive = \"server\"`. `docs/engines/postgres.md` says what the figures are then.",
            example: "postgres://dyno@db1:5432/bench",
            shown: Shown::CommentedForServers,
            get: |plan| plan.target.observe_url.as_ref().map(ToString::to_string),
        },
        Key {
            path: "target.password_env",
            kind: Kind::Variable { set: |plan, name| plan.target.password_env = Some(name) },
            unit: "",
            default: Fallback::None("none"),
            doc: "The environment variable that holds the password.",
            more: "Of several targets, for all. Not together with `password_file`.",
            example: "DYNO_PASSWORD",
            shown: Shown::CommentedForServers,
            get: |plan| plan.target.password_env.clone(),
        },
        Key {
            path: "target.password_file",
            kind: Kind::File { set: |plan, name| plan.target.password_file = Some(name) },
            unit: "",
            default: Fallback::None("none"),
            doc: "The file whose first line is the password.",
            more: "Of several targets, for all. Not together with `password_env`.",
            example: "/run/secrets/dyno",
            shown: Shown::CommentedForServers,
            get: |plan| plan.target.password_file.clone(),
        },
        Key {
            path: "target.connect_timeout",
            kind: Kind::Span {
                range: (millis(100), seconds(600)),
                set: |plan, span| plan.target.connect_timeout = span,
            },
            unit: "",
            default: Fallback::Value("10s"),
            doc: "The longest wait for one connection.",
            more: "",
            example: "30s",
            shown: Shown::CommentedForServers,
            get: |plan| Some(plan.target.connect_timeout.to_string()),
        },
    ],
};
