//! The file to import: detects its kind, and reads it several times without holding it in memory.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use crate::Error;

/// Maximum size in bytes of an input that can be read only once, such as a pipe: it is held in memory.
const PIPE_BYTES_MAX: u64 = 64 << 20;

/// Kind of content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    /// A page that `dyno report` wrote.
    Page,
    /// One record, as Dyno writes it when the repository cannot store it.
    Record,
    /// A table or a log.
    Table,
}

/// A reader that can return to its beginning.
pub(crate) trait Rewindable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Rewindable for T {}

/// A file that is imported; it can be read again from its start.
pub struct ImportFile {
    inner: Box<dyn Rewindable>,
    name: String,
}

impl ImportFile {
    /// Opens the file; a pipe is read into memory.
    ///
    /// # Errors
    /// It cannot be read, or is a pipe with too many bytes.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let cannot = |error: std::io::Error| {
            Error::input(
                format!("{name} cannot be read: {error}"),
                "give the path of a CSV table, a tool's log or a Dyno report",
            )
        };
        let file = File::open(path).map_err(cannot)?;
        if file.metadata().map_err(cannot)?.is_file() {
            return Ok(Self { inner: Box::new(file), name });
        }
        let mut bytes = Vec::new();
        file.take(PIPE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 > PIPE_BYTES_MAX {
            return Err(Error::input(
                format!("{name} is not a file and has more than 64 MiB"),
                "write it into a file",
            ));
        }
        Ok(Self { inner: Box::new(Cursor::new(bytes)), name })
    }

    /// Wraps the input of a test.
    #[cfg(test)]
    pub(crate) fn over(inner: impl Rewindable + 'static) -> Self {
        Self { inner: Box::new(inner), name: "t.csv".into() }
    }

    /// Its path as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A reader of the contents from the beginning.
    ///
    /// # Errors
    /// The file cannot be read again.
    pub fn reader(&mut self) -> std::io::Result<BufReader<impl Read>> {
        self.inner.rewind()?;
        Ok(BufReader::with_capacity(64 << 10, &mut self.inner))
    }

    /// Detects the kind from the first bytes.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn kind(&mut self) -> std::io::Result<ImportKind> {
        let mut start = Vec::new();
        self.reader()?.take(4_096).read_to_end(&mut start)?;
        let text = String::from_utf8_lossy(&start).to_ascii_lowercase();
        let text = text.trim_start_matches('\u{feff}').trim_start();
        Ok(match text {
            page if page.starts_with("<!doctype html") => ImportKind::Page,
            record if record.starts_with('{') => ImportKind::Record,
            _ => ImportKind::Table,
        })
    }
}
