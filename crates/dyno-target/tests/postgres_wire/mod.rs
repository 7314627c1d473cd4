//! What the tests of PostgreSQL connections and sessions share.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "test helpers; each binary uses its part")]

pub mod certificates;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_target::postgres::connect::ConnectConfig;
use dyno_target::postgres::wire::Connection;
use dyno_target::{OpenOptions, Target, open};
use dyno_testbed::{Postgres, Version};

/// Runs `test` on every version of this machine.
pub fn each_version(test: impl Fn(&Version)) {
    Postgres::available().iter().for_each(test);
}

fn patient() -> OpenOptions {
    OpenOptions { password: None, connect_timeout: Duration::from_secs(20) }
}

/// The target at a URL.
pub fn target_at(url: &str) -> Box<dyn Target> {
    open(&url.parse().unwrap(), &patient()).unwrap()
}

/// A plain connection to a URL.
pub fn connection(url: &str) -> Connection {
    let config = ConnectConfig::from_url(&url.parse().unwrap(), &patient()).unwrap();
    Connection::open(&config, "other").unwrap()
}

/// Writes a file that only its owner may read.
pub fn write_private(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}
