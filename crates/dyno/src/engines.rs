//! The engines of this program, one line each.

use std::sync::LazyLock;

use dyno_engine::EngineRegistry;
use dyno_plan::engine::{EngineSpec, or};

/// Every engine that this program was built with.
pub(crate) const ENGINES: EngineRegistry = dyno_engine::registry![
    #[cfg(feature = "sqlite")]
    dyno_sqlite::ENGINE,
    #[cfg(feature = "postgres")]
    dyno_postgres::ENGINE,
    #[cfg(feature = "mysql")]
    dyno_mysql::ENGINE,
    #[cfg(feature = "oracle")]
    dyno_oracle::ENGINE,
];

/// Engine names for help texts: `sqlite|postgres`.
pub(crate) static NAMES: LazyLock<String> = LazyLock::new(|| names().join("|"));

fn names() -> Vec<&'static str> {
    ENGINES.engines.iter().map(|engine| engine.spec.name).collect()
}

/// The engine with this name.
pub(crate) fn named(name: &str) -> Result<&'static EngineSpec, String> {
    let spec = ENGINES.specs.named(name);
    spec.ok_or_else(|| format!("unknown engine {name:?}: use {}", or(&names())))
}

#[cfg(test)]
#[path = "engines_tests.rs"]
mod tests;
