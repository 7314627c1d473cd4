//! Files and folders of the server's state, with the server's errors.

use std::path::Path;

use dyno_record::private_file as private;

use crate::error::ServeError;

/// The largest file that is read, bytes.
const BYTES_MAX: u64 = 16 << 20;

/// The text of the file at `path`; absent where there is none.
///
/// # Errors
/// As [`private::read_text`].
pub(crate) fn read(path: &Path) -> Result<Option<String>, ServeError> {
    private::read_text(path, BYTES_MAX).map_err(|error| ServeError::file(path, &error))
}

/// Writes the file at `path`, whole or not at all, for its user alone.
///
/// # Errors
/// As [`private::write`].
pub(crate) fn replace(path: &Path, text: &[u8]) -> Result<(), ServeError> {
    private::write(path, text).map_err(|error| ServeError::file(path, &error))
}
