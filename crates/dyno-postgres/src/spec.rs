//! PostgreSQL, as plans know it.

use dyno_plan::engine::{EngineSpec, Form, Passwords, Words};
use dyno_plan::{Commit, Protocol};

/// What a plan has to know of PostgreSQL.
pub const SPEC: EngineSpec = EngineSpec {
    aliases: &["postgresql"],
    product: "PostgreSQL",
    examples: &["postgres://USER@HOST:PORT/DATABASE"],
    words: &[
        Words::exact("sslmode", &["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        Words::exact("channel_binding", &["disable", "prefer", "require"]),
        Words::exact(
            "target_session_attrs",
            &["any", "read-write", "read-only", "primary", "standby", "prefer-standby"],
        ),
        Words::any_case("gssencmode", &["disable", "prefer"]),
        Words::any_case("client_encoding", &["UTF8", "UTF-8", "auto"]),
    ],
    commits: &[Commit::Nowait],
    protocols: &[Protocol::Extended, Protocol::Simple],
    other_commits: "commit = \"nowait\" (synchronous_commit = off), or leave it out",
    pooled: true,
    passwords: Passwords { variables: &["PGPASSWORD", "PGPASS"], clients: &[] },
    ..EngineSpec::plain("postgres", Form::Server, "postgres://dyno@localhost:5432/bench")
};
