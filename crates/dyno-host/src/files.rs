//! Reading the kernel's files: once (facts), or again and again (counters).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use crate::tree::Tree;

/// More than any of these files has; a bound against a file that never ends.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The root of the file tree: this machine's, a folder's (so that tests can show another machine's), or what was fetched of
/// another machine's.
#[derive(Debug, Clone)]
pub(crate) enum Root {
    Folder(PathBuf),
    Fetched(Arc<Tree>),
}

impl Root {
    /// This machine.
    pub(crate) fn system() -> Self {
        Self::Folder(PathBuf::from("/"))
    }

    #[cfg(test)]
    pub(crate) fn at(path: &std::path::Path) -> Self {
        Self::Folder(path.to_path_buf())
    }

    /// The place of `file`, which is written without a leading slash; of a fetched tree none that is there.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        match self {
            Self::Folder(root) => root.join(file),
            Self::Fetched(_) => PathBuf::from("/nonexistent").join(file),
        }
    }

    /// What was fetched of another machine; absent where this is one's own.
    pub(crate) fn fetched(&self) -> Option<&Tree> {
        match self {
            Self::Folder(_) => None,
            Self::Fetched(tree) => Some(tree),
        }
    }

    /// The content of `file` without the blanks around it; absent when it cannot be read or is empty.
    pub(crate) fn text(&self, file: &str) -> Option<String> {
        if let Self::Fetched(tree) = self {
            return tree.text(file).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        }
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
        if let Self::Fetched(tree) = self {
            return tree.names(folder);
        }
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Whether there is such a file.
    pub(crate) fn has(&self, file: &str) -> bool {
        match self {
            Self::Folder(_) => self.path(file).exists(),
            Self::Fetched(tree) => tree.has(file),
        }
    }

    /// The path that `link` leads to.
    pub(crate) fn followed(&self, link: &str) -> Option<PathBuf> {
        match self {
            Self::Folder(_) => std::fs::canonicalize(self.path(link)).ok(),
            Self::Fetched(tree) => tree.followed(link),
        }
    }

    /// The last name of the path that `link` leads to.
    pub(crate) fn link_name(&self, link: &str) -> Option<String> {
        Some(self.followed(link)?.file_name()?.to_string_lossy().into_owned())
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
