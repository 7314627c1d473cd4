//! What the tests of PostgreSQL connections and sessions share.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]

pub mod certificates;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use dyno_testbed::{Postgres, Version};

/// Runs `test` on every version of this machine.
pub fn each_version(test: impl Fn(&Version)) {
    let versions = Postgres::available();
    for version in &versions {
        test(version);
    }
}

/// Writes a file that only its owner may read.
pub fn write_private(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}
