//! Writes files in folders that others may write to: never through a link, and never partially.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Replaces the file at `path` by `bytes` atomically: the old file stays until the new one is complete. A
/// pipe or a terminal is written directly. A link to a file is refused, because the file may belong to
/// another user.
///
/// # Errors
/// The path is a link to a file, or writing fails.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |out| out.write_all(bytes))
}

/// Like [`replace`], but the content comes from `write`, piece by piece.
///
/// # Errors
/// Those of [`replace`] and of `write`.
pub fn replace_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn io::Write) -> Result<(), E>,
) -> Result<(), E> {
    let link_facts = std::fs::symlink_metadata(path).ok();
    let is_link = link_facts.as_ref().is_some_and(|facts| facts.file_type().is_symlink());
    let behind = std::fs::metadata(path).ok();
    match &behind {
        Some(facts) if !facts.is_file() => {
            return write(&mut OpenOptions::new().write(true).open(path)?);
        }
        _ if is_link => {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it is a link to another file: name that file, or remove the link",
            )
            .into());
        }
        _ => {}
    }
    let draft = draft_path(path);
    let fill = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
        if let Some(facts) = &behind {
            file.set_permissions(facts.permissions())?;
        }
        write(&mut file)?;
        // A full disk may be reported only here.
        file.sync_all()?;
        Ok(std::fs::rename(&draft, path)?)
    };
    let written: Result<(), E> = fill();
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// Creates a file that only this user can read.
///
/// # Errors
/// The file already exists, or writing fails.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

/// Creates a folder, and its parents, that only this user can read. An existing folder is not changed.
///
/// # Errors
/// The folder cannot be created.
pub fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A draft file name in the same folder, so that the file can be renamed.
fn draft_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.dyno-{}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_file_is_complete_and_keeps_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        replace(&path, b"first").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn symlink_is_not_followed_when_writing_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        std::fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        assert!(replace(&link, b"theirs").unwrap_err().to_string().contains("a link"));
        assert!(write_private(&link, b"theirs").is_err());
        assert_eq!(std::fs::read(&victim).unwrap(), b"mine");
        let nothing = folder.path().join("dangling");
        std::os::unix::fs::symlink(folder.path().join("none"), &nothing).unwrap();
        assert!(replace(&nothing, b"theirs").is_err());
        assert!(!folder.path().join("none").exists());
    }

    #[test]
    fn failed_write_keeps_the_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(replace(&folder.path().join("no/folder/report"), b"text").is_err());
        // The device accepts no data and is not a regular file, so it must not be replaced.
        let full = replace(Path::new("/dev/full"), b"text").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        replace(Path::new("/dev/null"), b"text").unwrap();
    }
}
