//! The file that is imported: what it is, and its contents as often as they are needed without holding them.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use crate::exit::usage;

/// The largest input that can be read only once, such as a pipe, in bytes: it is held.
const PIPE_BYTES_MAX: u64 = 64 << 20;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Kind {
    /// A page that `dyno report` wrote.
    Page,
    /// One record, as Dyno writes it where the repository takes none.
    Record,
    /// Anything else.
    Table,
}

/// Something that can be read again from its beginning.
pub(in crate::commands) trait Again: Read + Seek + Send {}

impl<T: Read + Seek + Send> Again for T {}

/// An open file.
pub(in crate::commands) struct Source {
    inner: Box<dyn Again>,
    name: String,
}

impl Source {
    pub(in crate::commands) fn open(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let cannot = |error: std::io::Error| {
            usage(format!("{name} cannot be read: {error}"), "name a file of comma-separated values")
        };
        let file = File::open(path).map_err(cannot)?;
        if file.metadata().map_err(cannot)?.is_file() {
            return Ok(Self { inner: Box::new(file), name });
        }
        let mut bytes = Vec::new();
        file.take(PIPE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 > PIPE_BYTES_MAX {
            return Err(usage(format!("{name} is no file and has more than 64 MiB"), "write it into a file"));
        }
        Ok(Self { inner: Box::new(Cursor::new(bytes)), name })
    }

    /// What a test hands in.
    #[cfg(test)]
    pub(in crate::commands) fn over(inner: impl Again + 'static) -> Self {
        Self { inner: Box::new(inner), name: "t.csv".into() }
    }

    pub(in crate::commands) fn name(&self) -> &str {
        &self.name
    }

    /// The contents, from the beginning.
    pub(in crate::commands) fn reader(&mut self) -> std::io::Result<BufReader<impl Read>> {
        self.inner.rewind()?;
        Ok(BufReader::with_capacity(64 << 10, &mut self.inner))
    }

    /// What the beginning says.
    pub(in crate::commands) fn kind(&mut self) -> std::io::Result<Kind> {
        let mut start = Vec::new();
        self.reader()?.take(4_096).read_to_end(&mut start)?;
        let text = String::from_utf8_lossy(&start).to_ascii_lowercase();
        let text = text.trim_start_matches('\u{feff}').trim_start();
        Ok(match text {
            page if page.starts_with("<!doctype html") => Kind::Page,
            record if record.starts_with('{') => Kind::Record,
            _ => Kind::Table,
        })
    }
}
