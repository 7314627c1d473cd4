//! Tests that could not run are reported, counted, and forbidden where everything must be installed.
#![allow(clippy::print_stderr, reason = "a skipped test has no other way to say so")]

use std::io::Write as _;

use crate::testbeds_dir;

/// Any value but empty or `0` of this environment variable turns every skip into a failure; `make test` sets
/// it.
pub const REQUIRE_ALL_ENV: &str = "DYNO_TEST_REQUIRE_ALL";

/// Any value but empty or `0` of this environment variable makes tests cover intermediate cases too: versions
/// between the oldest and the newest, sizes between the smallest and the largest. `make test-all` sets it.
pub const ALL_VERSIONS_ENV: &str = "DYNO_TEST_ALL";

/// Whether an environment variable is set to anything but `0` or nothing.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0")
}

/// Whether tests cover intermediate cases too ([`ALL_VERSIONS_ENV`]).
pub fn test_all_versions() -> bool {
    is_set(ALL_VERSIONS_ENV)
}

/// Reports that `subject` is skipped because of `why`, and adds a line to `target/testbeds/skipped`, which
/// counts skips.
///
/// # Panics
/// [`REQUIRE_ALL_ENV`] is set: nothing may be skipped then.
pub fn skip(subject: &str, why: &str) {
    assert!(!is_set(REQUIRE_ALL_ENV), "{subject} cannot run and {REQUIRE_ALL_ENV} is set: {why}");
    skip_unsupported(subject, why);
}

/// Reports and counts that `subject` cannot run on this machine for a reason that no installation changes: its
/// kernel, its file systems, or missing rights. Never a failure.
pub fn skip_unsupported(subject: &str, why: &str) {
    eprintln!("skipped: {subject}: {why}");
    let dir = testbeds_dir();
    let line = format!("{subject}: {why}\n");
    let written = std::fs::create_dir_all(&dir).and_then(|()| {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(dir.join("skipped"))?;
        file.write_all(line.as_bytes())
    });
    if let Err(error) = written {
        eprintln!("the skip could not be counted in {}: {error}", dir.display());
    }
}
