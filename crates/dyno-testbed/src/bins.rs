//! Finds PostgreSQL's binaries: Debian's folders, downloaded ones, or those named in the environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip::skip;
use crate::testbeds_dir;

/// Major versions that every test of the PostgreSQL engine needs: the oldest and the newest that one package
/// each provides. Others found on the machine are used too.
pub const WANTED_MAJORS: [u32; 2] = [15, 18];

/// Folders of binaries to use instead of a search, separated by `:`.
const BINS_ENV: &str = "DYNO_TEST_PG_BINS";

/// One set of PostgreSQL server binaries.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    /// The full version as `postgres --version` ends: `15.14`.
    pub full: String,
    /// The folder of `postgres`, `initdb` and `psql`.
    pub bins: PathBuf,
}

impl Version {
    /// The version whose binaries are in `bins`, if they exist and run.
    pub fn of(bins: &Path) -> Option<Self> {
        // Resolved here, because the server's user may not be allowed to follow the path.
        let bins = bins.canonicalize().ok()?;
        let output = Command::new(bins.join("postgres")).arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        // `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`
        let full = text.split_whitespace().nth(2)?.to_owned();
        let digits: String = full.chars().take_while(char::is_ascii_digit).collect();
        let whole = ["initdb", "psql"].iter().all(|name| bins.join(name).exists());
        whole.then_some(Self { major: digits.parse().ok()?, full, bins })
    }

    /// The version with this major number, if the machine has it.
    pub fn with_major(major: u32) -> Option<Self> {
        installed_versions().into_iter().find(|version| version.major == major)
    }
}

/// The newest set of binaries of each major version on this machine, oldest first.
pub(crate) fn installed_versions() -> Vec<Version> {
    let mut versions: Vec<Version> = folders().iter().filter_map(|folder| Version::of(folder)).collect();
    versions.sort();
    versions.dedup_by_key(|version| version.major);
    versions
}

/// Like [`installed_versions`], and reports which of [`WANTED_MAJORS`] are missing.
pub(crate) fn available() -> Vec<Version> {
    let versions = installed_versions();
    for major in WANTED_MAJORS {
        if !versions.iter().any(|version| version.major == major) {
            skip(
                &format!("the test on PostgreSQL {major}"),
                &format!(
                    "its binaries are not here; run scripts/testbeds.sh, or name their folder in {BINS_ENV}"
                ),
            );
        }
    }
    versions
}

fn folders() -> Vec<PathBuf> {
    if let Ok(named) = std::env::var(BINS_ENV) {
        return std::env::split_paths(&named).collect();
    }
    let inside = |parent: &Path, below: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        entries.map(|entry| entry.path().join(below)).filter(|path| path.is_dir()).collect()
    };
    let mut folders = inside(Path::new("/usr/lib/postgresql"), "bin");
    folders.extend(inside(&testbeds_dir(), "bin"));
    folders
}
