//! Reuses data directories: restores them to their template when a server has ended, and keeps them for the
//! next one.
//!
//! A data directory has about a thousand files. Making and deleting them for each test costs more than the
//! whole start of a server: ext4 does not reuse an inode for minutes after its deletion, and skips all of
//! those for each file it creates.

use std::fs::{DirEntry, File, FileTimes, Metadata};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::command::run;
use crate::testbeds_dir;

/// How much of two files is compared at a time, bytes.
const PIECE: usize = 256 << 10;

/// A data directory; kept for the next server when it is dropped, which happens after its own server has
/// ended.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    template: Option<PathBuf>,
}

impl DataDir {
    /// Makes `path` (which must not exist) equal to `template`, from a used directory if there is one.
    pub(crate) fn like(template: PathBuf, path: PathBuf) -> Result<Self, String> {
        if !take_stored_copy(&template, &path) {
            // New logs consist of zeros, which need not be written.
            let mut copy = Command::new("cp");
            copy.args(["-a", "--reflink=auto", "--sparse=always"]).arg(&template).arg(&path);
            run(&mut copy)?;
        }
        Ok(Self { path, template: Some(template) })
    }

    /// A directory made in another way, which no other test can use.
    pub(crate) fn of(path: PathBuf) -> Self {
        Self { path, template: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        if let Some(template) = &self.template {
            store_for_reuse(template, &self.path);
        }
    }
}

/// Moves a kept copy of `template` to `path`; returns whether there was one.
fn take_stored_copy(template: &Path, path: &Path) -> bool {
    let prefix = prefix(template);
    let copies = std::fs::read_dir(reuse_dir()).into_iter().flatten().flatten();
    copies
        .filter(|kept| kept.file_name().to_string_lossy().starts_with(&prefix))
        // The process whose rename succeeds owns it; another process may be faster.
        .any(|kept| std::fs::rename(kept.path(), path).is_ok())
}

/// Keeps `used`, which was made from `template`; if that fails, it is removed with the folder around it.
fn store_for_reuse(template: &Path, used: &Path) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let destination = reuse_dir().join(format!("{}{}-{number}", prefix(template), std::process::id()));
    let renewed = std::fs::create_dir_all(reuse_dir()).and_then(|()| renew(template, used));
    if renewed.is_ok() {
        // Across file systems, keeping it is not worth a copy.
        let _ = std::fs::rename(used, destination);
    }
}

fn reuse_dir() -> PathBuf {
    testbeds_dir().join("used")
}

fn prefix(template: &Path) -> String {
    format!("{}.", template.file_name().unwrap_or_default().to_string_lossy())
}

/// Makes `used` equal to `template` again: removes extra files and rewrites changed ones.
fn renew(template: &Path, used: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(used)? {
        let entry = entry?;
        if !is_of_one_kind(&entry, &template.join(entry.file_name()))? {
            remove(&entry)?;
        }
    }
    for entry in std::fs::read_dir(template)? {
        let entry = entry?;
        let (origin, copy) = (entry.path(), used.join(entry.file_name()));
        let wanted = entry.metadata()?;
        if wanted.is_dir() {
            match std::fs::create_dir(&copy) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => renew(&origin, &copy)?,
            }
        } else if !std::fs::symlink_metadata(&copy).is_ok_and(|found| is_untouched(&wanted, &found)) {
            restore(&origin, &copy)?;
        }
        if !wanted.is_dir() {
            std::fs::set_permissions(&copy, wanted.permissions())?;
        }
    }
    std::fs::set_permissions(used, std::fs::metadata(template)?.permissions())
}

/// Makes `copy` equal to `origin` and writes only the differences; logs and tablespaces differ little.
fn restore(origin: &Path, copy: &Path) -> io::Result<()> {
    let (origin, mut copy) = (
        File::open(origin)?,
        File::options().read(true).write(true).create(true).truncate(false).open(copy)?,
    );
    let (mut wanted, mut found) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    loop {
        let read = fill(&origin, &mut wanted)?;
        // A part beyond the end of the copy becomes a hole, which reads as zeros.
        found.fill(0);
        fill(&copy, &mut found[..read])?;
        if wanted[..read] != found[..read] {
            copy.write_all_at(&wanted[..read], at)?;
        }
        at += read as u64;
        if read < PIECE {
            break;
        }
        copy.seek(io::SeekFrom::Start(at))?;
    }
    copy.set_len(at)?;
    copy.set_times(FileTimes::new().set_modified(origin.metadata()?.modified()?))
}

/// Reads until `piece` is full or the file ends; returns the number of bytes.
fn fill(mut file: &File, piece: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < piece.len() {
        match file.read(&mut piece[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

/// Whether both are folders or both are files; links are never kept.
fn is_of_one_kind(entry: &DirEntry, origin: &Path) -> io::Result<bool> {
    let kind = entry.file_type()?;
    Ok(std::fs::symlink_metadata(origin)
        .is_ok_and(|wanted| kind.is_dir() == wanted.is_dir() && kind.is_file() == wanted.is_file())
        && !kind.is_symlink())
}

fn remove(entry: &DirEntry) -> io::Result<()> {
    if entry.file_type()?.is_dir() {
        std::fs::remove_dir_all(entry.path())
    } else {
        std::fs::remove_file(entry.path())
    }
}

/// Whether a file is unchanged since it was copied: a write sets the time, and copies keep it.
fn is_untouched(wanted: &Metadata, actual: &Metadata) -> bool {
    let fingerprint = |file: &Metadata| (file.len(), file.mtime(), file.mtime_nsec());
    fingerprint(wanted) == fingerprint(actual)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists paths with their contents; folders have the content `/`.
    fn listed(folder: &Path, below: &str, into: &mut Vec<(String, String)>) {
        let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = format!("{below}/{}", entry.file_name().display());
            if entry.file_type().unwrap().is_dir() {
                into.push((name.clone(), "/".into()));
                listed(&entry.path(), &name, into);
            } else {
                into.push((name, std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }

    fn all(folder: &Path) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        listed(folder, "", &mut entries);
        entries
    }

    #[test]
    fn data_directory_is_restored_to_the_template() {
        let folder = tempfile::tempdir().unwrap();
        let (template, used) = (folder.path().join("template"), folder.path().join("used"));
        for made in ["base/1", "log", "gone"] {
            std::fs::create_dir_all(template.join(made)).unwrap();
        }
        // Longer than one compared piece, with zeros at its end.
        let long = "x".repeat(PIECE + 7) + &"\0".repeat(2 * PIECE);
        let files =
            [("base/1/a", "first"), ("base/1/b", "second"), ("base/1/long", &long), ("version", "18")];
        for (name, text) in files.iter().chain(&[("file", "x")]) {
            std::fs::write(template.join(name), text).unwrap();
        }
        let data = DataDir::like(template.clone(), used.clone()).unwrap();
        assert_eq!(all(data.path()), all(&template));

        std::fs::write(used.join("base/1/a"), "FIRST").unwrap();
        std::fs::write(used.join("base/1/b"), "longer than it was").unwrap();
        std::fs::write(used.join("base/1/long"), long.replacen('x', "y", 1) + "and more").unwrap();
        std::fs::remove_file(used.join("version")).unwrap();
        std::fs::remove_dir(used.join("gone")).unwrap();
        std::fs::create_dir_all(used.join("base/2/deep")).unwrap();
        std::fs::write(used.join("base/2/deep/c"), "third").unwrap();
        // A folder in place of a file, a file in place of a folder, and a link to the outside.
        std::fs::remove_file(used.join("file")).unwrap();
        std::fs::create_dir(used.join("file")).unwrap();
        std::fs::remove_dir(used.join("log")).unwrap();
        std::fs::write(used.join("log"), "no folder").unwrap();
        let outside = folder.path().join("outside");
        std::fs::write(&outside, "stays").unwrap();
        std::os::unix::fs::symlink(&outside, used.join("link")).unwrap();

        renew(&template, &used).unwrap();
        assert_eq!(all(&used), all(&template));
        assert_eq!(std::fs::read_to_string(outside).unwrap(), "stays");
        let modified =
            |folder: &Path| std::fs::metadata(folder.join("base/1/a")).unwrap().modified().unwrap();
        assert_eq!(modified(&used), modified(&template), "as what is not looked into the next time");
        std::mem::forget(data);
    }
}
