//! The engines of this program: one line each.

use dyno_engine::Registry;

/// Every engine that this program was built with.
pub(crate) const ENGINES: Registry = Registry(&[
    #[cfg(feature = "sqlite")]
    dyno_sqlite::ENGINE,
    #[cfg(feature = "postgres")]
    dyno_postgres::ENGINE,
    #[cfg(feature = "mysql")]
    dyno_mysql::ENGINE,
    #[cfg(feature = "oracle")]
    dyno_oracle::ENGINE,
]);
