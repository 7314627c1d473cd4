//! Helpers that the tests of PostgreSQL connections and sessions share.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_engine::{OpenOptions, Target};
use dyno_postgres::connect::PostgresConnectConfig;
use dyno_postgres::wire::PostgresConnection;
use dyno_testbed::{Postgres, Version};

/// Runs `test` with every installed version.
pub(crate) fn each_version(test: impl Fn(&Version)) {
    Postgres::available().iter().for_each(test);
}

fn long_timeout_options() -> OpenOptions {
    OpenOptions { password: None, connect_timeout: Duration::from_secs(20) }
}

/// The target at a URL.
pub(crate) fn target_at(url: &str) -> Box<dyn Target> {
    dyno_postgres::open(&url.parse().unwrap(), &long_timeout_options()).unwrap()
}

/// A plain connection to a URL.
pub(crate) fn connection(url: &str) -> PostgresConnection {
    let config = PostgresConnectConfig::from_url(&url.parse().unwrap(), &long_timeout_options()).unwrap();
    PostgresConnection::open(&config, "other").unwrap()
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}
