//! Reads the kernel's files: once (facts), or repeatedly (counters).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use crate::tree::HostFileTree;

/// More than any of these files contains; protects against an endless file.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The root of the file tree: this machine's, a folder's (tests use it for other machines), or a fetched tree
/// of another machine.
#[derive(Debug, Clone)]
pub(crate) enum Root {
    Folder(PathBuf),
    Fetched(Arc<HostFileTree>),
}

impl Root {
    pub(crate) fn system() -> Self {
        Self::Folder(PathBuf::from("/"))
    }

    #[cfg(test)]
    pub(crate) fn at(path: &std::path::Path) -> Self {
        Self::Folder(path.to_path_buf())
    }

    /// The path of `file`, which is written without a leading slash; in a fetched tree, a path that does not
    /// exist.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        match self {
            Self::Folder(root) => root.join(file),
            Self::Fetched(_) => PathBuf::from("/nonexistent").join(file),
        }
    }

    /// The files fetched from another machine; absent for local files.
    pub(crate) fn fetched(&self) -> Option<&HostFileTree> {
        match self {
            Self::Folder(_) => None,
            Self::Fetched(tree) => Some(tree),
        }
    }

    /// The content of `file` without surrounding blanks; absent if it cannot be read or is empty.
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

    /// The names in `folder`, sorted; empty if it cannot be read.
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
    pub(crate) fn exists(&self, file: &str) -> bool {
        match self {
            Self::Folder(_) => self.path(file).exists(),
            Self::Fetched(tree) => tree.exists(file),
        }
    }

    /// The path that `link` leads to.
    pub(crate) fn follow_link(&self, link: &str) -> Option<PathBuf> {
        match self {
            Self::Folder(_) => std::fs::canonicalize(self.path(link)).ok(),
            Self::Fetched(tree) => tree.follow_link(link),
        }
    }

    /// The last name of the path that `link` leads to.
    pub(crate) fn link_name(&self, link: &str) -> Option<String> {
        Some(self.follow_link(link)?.file_name()?.to_string_lossy().into_owned())
    }
}

/// A file that stays open. Reading it again from its beginning makes the kernel write its content again.
#[derive(Debug)]
pub(crate) struct KeptFile(Option<File>);

impl KeptFile {
    pub(crate) fn open(root: &Root, file: &str) -> Self {
        Self(File::open(root.path(file)).ok())
    }

    /// The present content, in `buffer`, whose memory is reused; absent if it cannot be read.
    pub(crate) fn read<'a>(&mut self, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        let file = self.0.as_mut()?;
        buffer.clear();
        file.seek(SeekFrom::Start(0)).ok()?;
        file.take(FILE_BYTES_MAX).read_to_end(buffer).ok()?;
        std::str::from_utf8(buffer).ok()
    }
}
