//! The description of SQLite for plans.

use dyno_plan::engine::{EngineSpec, UrlForm, UrlParameterWords};

/// What a plan needs to know about SQLite.
pub const SPEC: EngineSpec = EngineSpec {
    product: "SQLite",
    examples: &["sqlite:PATH", "sqlite::memory:"],
    words: &[
        UrlParameterWords::exact("journal", &JOURNALS),
        UrlParameterWords::exact("sync", &SYNCS),
        UrlParameterWords::exact("direct", &SWITCH),
        UrlParameterWords::exact("locking", &LOCKINGS),
    ],
    cached: &[("cache", "512M")],
    uncached: &[("direct", "on"), ("cache", "1M")],
    other_commits: "leave it out; sync=off or sync=normal in the URL decides how commits of all sessions wait",
    ..EngineSpec::plain("sqlite", FILE, "sqlite:dyno.db")
};

const FILE: UrlForm =
    UrlForm::File { write: "write sqlite:PATH, sqlite:///ABSOLUTE/PATH or sqlite::memory:" };

pub(crate) const JOURNALS: [&str; 6] = ["wal", "delete", "truncate", "persist", "memory", "off"];
pub(crate) const SYNCS: [&str; 4] = ["off", "normal", "full", "extra"];
pub(crate) const LOCKINGS: [&str; 2] = ["normal", "exclusive"];
pub(crate) const SWITCH: [&str; 2] = ["off", "on"];
