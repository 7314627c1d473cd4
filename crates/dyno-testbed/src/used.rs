//! Data directories that are used again: brought back to their template when a server has ended, kept for the next one.
//!
//! A data directory has about a thousand files. Making and deleting them for each test costs more than all that a server
//! does when it starts: ext4 takes no inode anew for minutes after it was deleted, and looks through all of those for each
//! file it makes.

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

/// A data directory; kept for the next server when it is dropped, which is after its own has ended.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    template: Option<PathBuf>,
}

impl DataDir {
    /// Makes `path` (which must not exist) equal to `template`: out of one that was used before, where there is one.
    pub(crate) fn like(template: PathBuf, path: PathBuf) -> Result<Self, String> {
        if !take(&template, &path) {
            // Logs are made of zeros at first, which need not be written.
            let mut copy = Command::new("cp");
            copy.args(["-a", "--reflink=auto", "--sparse=always"]).arg(&template).arg(&path);
            run(&mut copy)?;
        }
        Ok(Self { path, template: Some(template) })
    }

    /// One that came about in another way, and is of no use to others.
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
            give_back(template, &self.path);
        }
    }
}

/// Moves a kept copy of `template` to `path`; whether there was one.
fn take(template: &Path, path: &Path) -> bool {
    let prefix = prefix(template);
    let kept = std::fs::read_dir(shelf()).into_iter().flatten().flatten();
    kept.filter(|kept| kept.file_name().to_string_lossy().starts_with(&prefix))
        // Whoever renames it has it; another process may be faster.
        .any(|kept| std::fs::rename(kept.path(), path).is_ok())
}

/// Keeps `used`, which was made from `template`; where that cannot be, it goes with the folder around it.
fn give_back(template: &Path, used: &Path) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let kept = shelf().join(format!("{}{}-{number}", prefix(template), std::process::id()));
    let renewed = std::fs::create_dir_all(shelf()).and_then(|()| renew(template, used));
    if renewed.is_ok() {
        // On another file system it is not worth to be kept.
        let _ = std::fs::rename(used, kept);
    }
}

fn shelf() -> PathBuf {
    testbeds_dir().join("used")
}

fn prefix(template: &Path) -> String {
    format!("{}.", template.file_name().unwrap_or_default().to_string_lossy())
}

/// Makes `used` equal to `template` again: what is not in it goes, what was written since comes anew.
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

/// Makes `copy` equal to `origin`, writing only what differs: of logs and tablespaces that is little.
fn restore(origin: &Path, copy: &Path) -> io::Result<()> {
    let (origin, mut copy) = (
        File::open(origin)?,
        File::options().read(true).write(true).create(true).truncate(false).open(copy)?,
    );
    let (mut wanted, mut found) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    loop {
        let read = fill(&origin, &mut wanted)?;
        // What the copy is too short for is a hole, and holes are zeros.
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

/// Reads until `piece` is full or the file ends; how much it was.
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

/// Whether nobody wrote to a file since it was copied: what writes sets the time, and copies keep it.
fn is_untouched(wanted: &Metadata, found: &Metadata) -> bool {
    let of = |file: &Metadata| (file.len(), file.mtime(), file.mtime_nsec());
    of(wanted) == of(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths with their contents, and the contents alone of folders as `/`.
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
        let mut found = Vec::new();
        listed(folder, "", &mut found);
        found
    }

    #[test]
    fn what_a_server_left_is_as_the_template_again() {
        let folder = tempfile::tempdir().unwrap();
        let (template, used) = (folder.path().join("template"), folder.path().join("used"));
        for made in ["base/1", "log", "gone"] {
            std::fs::create_dir_all(template.join(made)).unwrap();
        }
        // Longer than is compared at a time, with zeros at its end.
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
        // A folder in a file's place, a file in a folder's, and a link that leads out.
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
