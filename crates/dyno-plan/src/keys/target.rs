//! Keys of `[target]`.

use super::kind::{millis, seconds};
use super::{Fallback, Key, Kind, Section, Shown};

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
            get: |plan| Some(plan.target.url.to_string()),
        },
        Key {
            path: "target.password_env",
            kind: Kind::Variable { set: |plan, name| plan.target.password_env = Some(name) },
            unit: "",
            default: Fallback::None("none"),
            doc: "The environment variable that holds the password.",
            more: "Not together with `password_file`.",
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
            more: "Not together with `password_env`.",
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
