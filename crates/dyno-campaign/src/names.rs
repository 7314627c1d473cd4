//! Creates unique names of runs and campaigns.

use dyno_engine::data::mix;
use dyno_record::RepositoryError;
use jiff::Timestamp;

/// Calls `note` with the time and sixteen random bits (65,536 names per second) until it accepts the name as
/// unused.
pub(crate) fn with_unique_name<T>(
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
