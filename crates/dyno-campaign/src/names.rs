//! Names of runs, and of runs that belong together.

use dyno_engine::data::mix;
use dyno_record::RepositoryError;
use jiff::Timestamp;

/// Draws until `note` finds the name free that it makes of a moment and sixteen random bits: a second holds 65,536.
pub(crate) fn drawn<T>(
    mut note: impl FnMut(Timestamp, u16) -> Result<T, RepositoryError>,
) -> Result<T, RepositoryError> {
    let mut salt = u64::from(std::process::id());
    loop {
        let now = Timestamp::now();
        salt = mix(salt ^ now.as_nanosecond() as u64);
        match note(now, salt as u16) {
            Err(RepositoryError::Exists { .. }) => {}
            noted => return noted,
        }
    }
}
