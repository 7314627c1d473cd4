//! URL parameters whose values are words: what each engine allows.
//!
//! The engines read their own parameters; which words there are stands here, so that a plan is refused for a slip before
//! anything is reached.

use super::TargetUrl;
use crate::engine::Engine;

/// One parameter and its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// The engine.
    pub engine: Engine,
    /// The parameter's name.
    pub name: &'static str,
    /// What it may be.
    pub allowed: &'static [&'static str],
    /// Whether capitals and small letters are alike.
    pub any_case: bool,
}

const fn words(engine: Engine, name: &'static str, allowed: &'static [&'static str]) -> Words {
    Words { engine, name, allowed, any_case: false }
}

const fn any_case(engine: Engine, name: &'static str, allowed: &'static [&'static str]) -> Words {
    Words { engine, name, allowed, any_case: true }
}

/// Every parameter of this kind.
pub const WORDS: [Words; 12] = [
    words(
        Engine::Postgres,
        "sslmode",
        &["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
    ),
    words(Engine::Postgres, "channel_binding", &["disable", "prefer", "require"]),
    any_case(Engine::Postgres, "gssencmode", &["disable", "prefer"]),
    any_case(Engine::Postgres, "client_encoding", &["UTF8", "UTF-8", "auto"]),
    any_case(
        Engine::Mysql,
        "ssl-mode",
        &["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
    ),
    words(Engine::Oracle, "protocol", &["tcp", "tcps"]),
    words(Engine::Oracle, "server", &["dedicated", "shared", "pooled"]),
    words(Engine::Oracle, "index-logging", &["on", "off"]),
    words(Engine::Sqlite, "journal", &["wal", "delete", "truncate", "persist", "memory", "off"]),
    words(Engine::Sqlite, "sync", &["off", "normal", "full", "extra"]),
    words(Engine::Sqlite, "direct", &["off", "on"]),
    words(Engine::Sqlite, "locking", &["normal", "exclusive"]),
];

impl Words {
    fn allows(&self, value: &str) -> bool {
        // What is empty counts as not written, or is refused by the engine.
        value.is_empty()
            || self.allowed.iter().any(|word| match self.any_case {
                true => {
                    word.eq_ignore_ascii_case(&value.replace('-', "_")) || word.eq_ignore_ascii_case(value)
                }
                false => *word == value,
            })
    }
}

/// The first parameter of `url` whose value is none of its words.
pub(crate) fn refused(url: &TargetUrl) -> Option<&'static Words> {
    let engine = Engine::of(url)?;
    url.params.iter().find_map(|(name, value)| {
        let known = WORDS.iter().find(|words| words.engine == engine && words.name == name)?;
        (!known.allows(value)).then_some(known)
    })
}
