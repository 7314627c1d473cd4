//! SQLite, as plans know it.

use dyno_plan::engine::{EngineSpec, Form, Words};

/// What a plan has to know of SQLite.
pub const SPEC: EngineSpec = EngineSpec {
    product: "SQLite",
    examples: &["sqlite:PATH", "sqlite::memory:"],
    words: &[
        Words::exact("journal", &JOURNALS),
        Words::exact("sync", &SYNCS),
        Words::exact("direct", &SWITCH),
        Words::exact("locking", &LOCKINGS),
    ],
    cached: &[("cache", "512M")],
    uncached: &[("direct", "on"), ("cache", "1M")],
    other_commits: "leave it out; sync=off or sync=normal in the URL decides how commits of all sessions wait",
    ..EngineSpec::plain("sqlite", FILE, "sqlite:dyno.db")
};

const FILE: Form = Form::File { write: "write sqlite:PATH, sqlite:///ABSOLUTE/PATH or sqlite::memory:" };

pub(crate) const JOURNALS: [&str; 6] = ["wal", "delete", "truncate", "persist", "memory", "off"];
pub(crate) const SYNCS: [&str; 4] = ["off", "normal", "full", "extra"];
pub(crate) const LOCKINGS: [&str; 2] = ["normal", "exclusive"];
pub(crate) const SWITCH: [&str; 2] = ["off", "on"];
