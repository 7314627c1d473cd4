//! What the tests of PostgreSQL connections and sessions share.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_engine::{OpenOptions, Target};
use dyno_postgres::connect::ConnectConfig;
use dyno_postgres::wire::Connection;
use dyno_testbed::{Postgres, Version};

/// Runs `test` on every version of this machine.
pub(crate) fn each_version(test: impl Fn(&Version)) {
    Postgres::available().iter().for_each(test);
}

fn patient() -> OpenOptions {
    OpenOptions { password: None, connect_timeout: Duration::from_secs(20) }
}

/// The target at a URL.
pub(crate) fn target_at(url: &str) -> Box<dyn Target> {
    dyno_postgres::open(&url.parse().unwrap(), &patient()).unwrap()
}

/// A plain connection to a URL.
pub(crate) fn connection(url: &str) -> Connection {
    let config = ConnectConfig::from_url(&url.parse().unwrap(), &patient()).unwrap();
    Connection::open(&config, "other").unwrap()
}

/// Writes a file that only its owner may read.
pub(crate) fn write_private(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}
