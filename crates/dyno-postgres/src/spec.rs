//! The description of PostgreSQL for plans.

use dyno_plan::engine::{EngineSpec, Passwords, UrlForm, UrlParameterWords};
use dyno_plan::{Commit, StatementProtocol};

/// What a plan needs to know about PostgreSQL.
pub const SPEC: EngineSpec = EngineSpec {
    aliases: &["postgresql"],
    product: "PostgreSQL",
    examples: &["postgres://USER@HOST:PORT/DATABASE"],
    words: &[
        UrlParameterWords::exact(
            "sslmode",
            &["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
        ),
        UrlParameterWords::exact("channel_binding", &["disable", "prefer", "require"]),
        UrlParameterWords::exact(
            "target_session_attrs",
            &["any", "read-write", "read-only", "primary", "standby", "prefer-standby"],
        ),
        UrlParameterWords::any_case("gssencmode", &["disable", "prefer"]),
        UrlParameterWords::any_case("client_encoding", &["UTF8", "UTF-8", "auto"]),
    ],
    commits: &[Commit::Nowait],
    protocols: &[StatementProtocol::Extended, StatementProtocol::Simple],
    other_commits: "commit = \"nowait\" (synchronous_commit = off), or leave it out",
    pooled: true,
    passwords: Passwords { variables: &["PGPASSWORD", "PGPASS"], clients: &[] },
    ..EngineSpec::plain("postgres", UrlForm::Server, "postgres://dyno@localhost:5432/bench")
};
