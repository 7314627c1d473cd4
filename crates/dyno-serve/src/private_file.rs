//! Reads and writes files of the server's state folder, with the server's error type.

use std::path::Path;

use dyno_record::private_file as private;

use crate::error::ServeError;

/// Largest file that is read, bytes.
const BYTES_MAX: u64 = 16 << 20;

/// Reads the file at `path`; absent if it does not exist.
///
/// # Errors
/// Those of [`private::read_text`].
pub(crate) fn read(path: &Path) -> Result<Option<String>, ServeError> {
    private::read_text(path, BYTES_MAX).map_err(|error| ServeError::file(path, &error))
}

/// Writes the file at `path` atomically; only its user can read it.
///
/// # Errors
/// Those of [`private::write`].
pub(crate) fn replace(path: &Path, text: &[u8]) -> Result<(), ServeError> {
    private::write(path, text).map_err(|error| ServeError::file(path, &error))
}
