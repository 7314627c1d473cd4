//! Tests that could not run: said, counted, and forbidden where everything must be there.
#![allow(clippy::print_stderr, reason = "a skipped test has no other way to say so")]

use std::io::Write as _;

use crate::testbeds_dir;

/// Set to anything but `0` or nothing, this environment variable turns every skip into a failure; `make test` sets it.
pub const REQUIRE_ALL_ENV: &str = "DYNO_TEST_REQUIRE_ALL";

/// Set to anything but `0` or nothing, this environment variable lets tests see what lies between two ends, too: versions between
/// the oldest and the newest, sizes between the smallest and the largest. `make test-all` sets it.
pub const ALL_VERSIONS_ENV: &str = "DYNO_TEST_ALL";

/// Whether an environment variable is set to anything but `0` or nothing.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0")
}

/// Whether tests see what lies between two ends, too ([`ALL_VERSIONS_ENV`]).
pub fn with_those_between() -> bool {
    is_set(ALL_VERSIONS_ENV)
}

/// Says that `what` is skipped because of `why`, and adds a line to `target/testbeds/skipped`, which counts them.
///
/// # Panics
/// [`REQUIRE_ALL_ENV`] is set: nothing may be skipped then.
pub fn skip(what: &str, why: &str) {
    assert!(!is_set(REQUIRE_ALL_ENV), "{what} cannot run and {REQUIRE_ALL_ENV} is set: {why}");
    cannot(what, why);
}

/// Says and counts that `what` cannot run on this machine, and that nothing installed could change it: its kernel, its
/// file systems, or the rights we have here. Never a failure.
pub fn cannot(what: &str, why: &str) {
    eprintln!("skipped: {what}: {why}");
    let dir = testbeds_dir();
    let line = format!("{what}: {why}\n");
    let written = std::fs::create_dir_all(&dir).and_then(|()| {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(dir.join("skipped"))?;
        file.write_all(line.as_bytes())
    });
    if let Err(error) = written {
        eprintln!("the skip could not be counted in {}: {error}", dir.display());
    }
}
