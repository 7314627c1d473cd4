//! Reading the kernel's files: once (facts), or again and again (counters).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

/// More than any of these files has; a bound against a file that never ends.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The root of the file tree, so that tests can show another machine's.
#[derive(Debug, Clone)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// This machine.
    pub(crate) fn system() -> Self {
        Self(PathBuf::from("/"))
    }

    #[cfg(test)]
    pub(crate) fn at(path: &std::path::Path) -> Self {
        Self(path.to_path_buf())
    }

    /// The place of `file`, which is written without a leading slash.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// The content of `file` without the blanks around it; absent when it cannot be read or is empty.
    pub(crate) fn text(&self, file: &str) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(file)).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The number that `file` holds.
    pub(crate) fn number(&self, file: &str) -> Option<u64> {
        self.text(file)?.parse().ok()
    }

    /// The names in `folder`, sorted; none when it cannot be read.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Whether there is such a file.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    /// The last name of the path that `link` leads to.
    pub(crate) fn link_name(&self, link: &str) -> Option<String> {
        let target = std::fs::canonicalize(self.path(link)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }
}

/// A file that is kept open and read anew from its beginning, which makes the kernel write its content anew.
#[derive(Debug)]
pub(crate) struct KeptFile(Option<File>);

impl KeptFile {
    pub(crate) fn open(root: &Root, file: &str) -> Self {
        Self(File::open(root.path(file)).ok())
    }

    /// The present content, in `buffer`, whose memory is used again; absent when it cannot be read.
    pub(crate) fn read<'a>(&mut self, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        let file = self.0.as_mut()?;
        buffer.clear();
        file.seek(SeekFrom::Start(0)).ok()?;
        file.take(FILE_BYTES_MAX).read_to_end(buffer).ok()?;
        std::str::from_utf8(buffer).ok()
    }
}
