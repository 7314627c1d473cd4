//! Helpers that the tests of the PostgreSQL engine share.

use std::time::Duration;

use dyno_engine::{LoadOptions, OpenOptions, Target};
use dyno_plan::DataSpec;
use dyno_testbed::Postgres;

/// Starts a server of each installed version with default settings and passes it to `test`.
pub(crate) fn on_each_version(test: impl Fn(&Postgres)) {
    on_each_version_with(&[], test);
}

/// Like [`on_each_version`], with additional server settings.
pub(crate) fn on_each_version_with(settings: &[(&str, &str)], test: impl Fn(&Postgres)) {
    for version in Postgres::available() {
        test(&Postgres::start(&version, settings));
    }
}

/// The server as a target.
pub(crate) fn target(server: &Postgres) -> Box<dyn Target> {
    target_at(&server.url())
}

/// The target at a URL.
pub(crate) fn target_at(url: &str) -> Box<dyn Target> {
    let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(10) };
    dyno_postgres::open(&url.parse().unwrap(), &options).unwrap()
}

/// A spec with the server's default block size.
pub(crate) fn spec(schemas: u32, rows: u64, scan_rows: u64) -> DataSpec {
    DataSpec {
        schemas,
        rows,
        scan_rows,
        block_size: 8192,
        compressible: 0,
        seed: 42,
        secondary: false,
        copied: false,
    }
}

/// A load over `parallel` connections that replaces nothing.
pub(crate) fn options(parallel: u32) -> LoadOptions {
    LoadOptions { parallel, replace: false, dyno_version: "test".to_owned() }
}
