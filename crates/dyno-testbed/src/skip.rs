//! Tests that could not run: said, counted, and forbidden where everything must be there.
#![allow(clippy::print_stderr, reason = "a skipped test has no other way to say so")]

use std::io::Write as _;

use crate::testbeds_dir;

/// Set to anything but `0` or nothing, this environment variable turns every skip into a failure; `make test` sets it.
pub const REQUIRE_ALL_ENV: &str = "DYNO_TEST_REQUIRE_ALL";

/// Says that `what` is skipped because of `why`, and adds a line to `target/testbeds/skipped`, which counts them.
///
/// # Panics
/// [`REQUIRE_ALL_ENV`] is set: nothing may be skipped then.
pub fn skip(what: &str, why: &str) {
    let required = std::env::var(REQUIRE_ALL_ENV).is_ok_and(|value| !value.is_empty() && value != "0");
    assert!(!required, "{what} cannot run and {REQUIRE_ALL_ENV} is set: {why}");
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
