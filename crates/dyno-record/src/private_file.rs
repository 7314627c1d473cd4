//! Files and folders that no other user may read, write or create: tokens, queued jobs, stored runs.
//!
//! In a folder where others can write, another user could prepare a file or link. Dyno therefore accepts only a regular file
//! of this user, and only a folder where nobody else can write.

use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// The text of the file at `path`, at most `bytes_max` bytes; `None` if it does not exist.
///
/// # Errors
/// The same as for [`read`], or the file is not UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<Option<String>> {
    let Some(bytes) = read(path, bytes_max)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| Error::other("it is not text"))
}

/// The contents of the file at `path`, at most `bytes_max` bytes; `None` if it does not exist.
///
/// # Errors
/// It is a link or not a regular file, belongs to another user, is accessible to others, is larger, or cannot be read.
pub fn read(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>> {
    let mut options = std::fs::OpenOptions::new();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = match options.read(true).custom_flags(flags as i32).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(Error::other("it is a symbolic link, and links are not followed"));
        }
        Err(error) => return Err(error),
    };
    let facts = file.metadata()?;
    let (mode, user) = (facts.mode() & 0o777, rustix::process::geteuid().as_raw());
    if !facts.is_file() || facts.nlink() != 1 {
        return Err(Error::other("it is not a regular file of its own"));
    }
    if facts.uid() != user {
        return Err(Error::other(format!("it belongs to user {}, not to {user}", facts.uid())));
    }
    if mode & 0o077 != 0 {
        let problem =
            format!("other users can read or write it (mode {mode:o}): chmod 600 {}", path.display());
        return Err(Error::other(problem));
    }
    if facts.len() > bytes_max {
        return Err(Error::other(format!("it has {} bytes, more than {bytes_max}", facts.len())));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The mode of the file at `path` if others may read or write it; `None` if only its owner may, or the mode is unknown.
pub fn open_to_others(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// A warning that others may read or write the file with the secret called `name`; `None` if only its owner may.
pub fn open_secret_warning(name: &str, path: &Path) -> Option<String> {
    let mode = open_to_others(path)?;
    let shown = path.display();
    Some(format!("{name} {shown} is accessible to other users (mode {mode:o}): chmod 600 {shown}"))
}

/// Writes the file at `path` atomically, with access for this user only.
///
/// # Errors
/// The folder cannot be written to, or the disk is full.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = path.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

/// Checks an open file of commands or marks: no other user may have created or changed it.
///
/// # Errors
/// It is not a regular file, belongs to another user, or others may write to it.
pub fn check_own(file: &std::fs::File) -> Result<()> {
    let facts = file.metadata()?;
    let (mode, user) = (facts.mode() & 0o777, rustix::process::geteuid().as_raw());
    if !facts.is_file() || facts.nlink() != 1 {
        return Err(Error::other("it is not a regular file of its own"));
    }
    if facts.uid() != user {
        return Err(Error::other(format!("it belongs to user {}, not to {user}", facts.uid())));
    }
    if mode & 0o022 != 0 {
        return Err(Error::other(format!("other users can write to it (mode {mode:o})")));
    }
    Ok(())
}

/// Checks that the file at `path` is not writable by everyone. A missing file passes.
///
/// # Errors
/// Everyone may write to the file.
pub fn check_not_public(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.mode() & 0o002 != 0 => {
            Err(Error::other(format!("all users can write to it: chmod o-w {}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Checks a file that a group may share. In a folder where everyone can create files, such as `/tmp`, only a regular file of
/// this user passes. A missing file passes.
///
/// # Errors
/// Another user could have prepared the file.
pub fn check_shared(path: &Path) -> Result<()> {
    let Ok(facts) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_open = std::fs::metadata(folder).is_ok_and(|folder| folder.mode() & 0o002 != 0);
    let is_own = facts.is_file() && facts.nlink() == 1 && facts.uid() == rustix::process::geteuid().as_raw();
    if is_open && !is_own {
        let problem = "all users can create files in its folder, and it is a symbolic link or belongs to \
                       another user";
        return Err(Error::other(problem));
    }
    Ok(())
}

/// Creates the folder at `path` if it is missing, and checks it.
///
/// # Errors
/// The same as for [`check_folder`], or the folder cannot be created.
pub fn create_folder(path: &Path) -> Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    check_folder(path)
}

/// Checks the folder at `path`: others who can write to it could create files there.
///
/// A link is followed if only root or this user can have created it, as with systemd's `DynamicUser=`.
///
/// # Errors
/// It is not a folder, is a link that others could have created, belongs to another user, or its group or others may write to it.
pub fn check_folder(path: &Path) -> Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let link = std::fs::symlink_metadata(path)?;
    if link.is_symlink() {
        let above = path.parent().map(std::fs::metadata).transpose()?;
        let is_closed =
            above.is_some_and(|above| above.mode() & 0o022 == 0 && [0, user].contains(&above.uid()));
        if !is_closed || ![0, user].contains(&link.uid()) {
            return Err(Error::other(
                "it is a symbolic link that other users could have created: use another \
                                     folder",
            ));
        }
    }
    let facts = std::fs::metadata(path)?;
    let mode = facts.mode() & 0o7777;
    if !facts.is_dir() {
        return Err(Error::other("it is not a folder: use another one"));
    }
    if facts.uid() != user {
        return Err(Error::other(format!(
            "it belongs to user {}, not to {user}: use another one",
            facts.uid()
        )));
    }
    if mode & 0o022 != 0 {
        let way_out = format!("inspect its contents, then chmod 700 {}", path.display());
        return Err(Error::other(format!("other users can write to it (mode {mode:o}): {way_out}")));
    }
    check_above(path)
}

/// Checks the folders above `path`. Where everyone may write and there is no sticky bit (`/tmp` has one), everyone can replace
/// this folder while it is in use.
fn check_above(path: &Path) -> Result<()> {
    for above in std::fs::canonicalize(path)?.ancestors().skip(1) {
        let mode = std::fs::metadata(above)?.mode() & 0o7777;
        if mode & 0o1002 == 0o0002 {
            let shown = above.display();
            let way_out = format!("chmod o-w {shown} (or +t), or use another folder");
            return Err(Error::other(format!(
                "all users can rename folders in {shown} (mode {mode:o}): {way_out}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn folder_writable_by_other_users_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        create_folder(&at("deep/good")).unwrap();
        assert_eq!(std::fs::metadata(at("deep/good")).unwrap().mode() & 0o777, 0o700);
        std::os::unix::fs::symlink(at("deep/good"), at("link")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        assert!(create_folder(&at("link")).is_ok(), "only this user can have made the link");
        assert!(create_folder(&at("file")).is_err());
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(create_folder(&at("link")).is_err(), "others could have made the link");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        for mode in [0o770, 0o702, 0o1777] {
            std::fs::set_permissions(at("deep/good"), std::fs::Permissions::from_mode(mode)).unwrap();
            let error = create_folder(&at("deep/good")).unwrap_err().to_string();
            assert!(error.contains("chmod 700"), "{error}");
        }
        std::fs::set_permissions(at("deep/good"), std::fs::Permissions::from_mode(0o700)).unwrap();
        for (mode, is_accepted) in [(0o1777, true), (0o770, true), (0o777, false), (0o703, false)] {
            std::fs::set_permissions(at("deep"), std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(create_folder(&at("deep/good")).is_ok(), is_accepted, "{mode:o}");
        }
        if rustix::process::geteuid().is_root() {
            std::fs::create_dir(at("theirs")).unwrap();
            std::os::unix::fs::chown(at("theirs"), Some(65_534), None).unwrap();
            let error = create_folder(&at("theirs")).unwrap_err().to_string();
            assert!(error.contains("belongs to user 65534"), "{error}");
        }
    }

    #[test]
    fn shared_file_prepared_by_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let open = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        write(&at("file"), b"x").unwrap();
        write(&at("wide"), b"x").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        open(&at("wide"), 0o666);
        for name in ["file", "link", "none"] {
            assert!(check_shared(&at(name)).is_ok(), "{name}");
        }
        assert!(check_not_public(&at("wide")).is_err());
        assert!(check_not_public(&at("file")).is_ok());
        open(folder.path(), 0o1777);
        assert!(check_shared(&at("file")).is_ok());
        assert!(check_shared(&at("link")).is_err());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(at("file"), Some(65_534), None).unwrap();
            assert!(check_shared(&at("file")).is_err());
            assert!(check_own(&std::fs::File::open(at("file")).unwrap()).is_err());
        }
        write(&at("own"), b"x").unwrap();
        assert!(check_own(&std::fs::File::open(at("own")).unwrap()).is_ok());
        open(&at("own"), 0o620);
        assert!(check_own(&std::fs::File::open(at("own")).unwrap()).is_err());
    }

    #[test]
    fn secret_file_readable_by_others_gives_chmod_hint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        assert_eq!(open_secret_warning("the key", &path), None);
        write(&path, b"x").unwrap();
        assert_eq!(open_secret_warning("the key", &path), None);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let warning = open_secret_warning("the key", &path).unwrap();
        assert!(warning.contains("mode 644"), "{warning}");
        assert!(warning.contains("chmod 600"), "{warning}");
    }

    #[test]
    fn file_prepared_by_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(read(&at("none"), 99).unwrap().is_none());
        write(&at("good"), b"text").unwrap();
        assert_eq!(read_text(&at("good"), 99).unwrap().as_deref(), Some("text"));
        std::os::unix::fs::symlink(at("good"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("none"), at("dangling")).unwrap();
        write(&at("open"), b"text").unwrap();
        std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o620)).unwrap();
        write(&at("hard"), b"text").unwrap();
        std::fs::hard_link(at("hard"), at("second")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        for name in ["link", "dangling", "open", "hard", "second", "fifo", "."] {
            assert!(read(&at(name), 99).is_err(), "{name}");
        }
        assert!(read(&at("good"), 3).is_err(), "it is too large");
        {}
        // A link at the path of the new file is replaced, not followed.
        std::os::unix::fs::symlink(at("good"), at("x.new")).unwrap();
        write(&at("x"), b"other").unwrap();
        assert_eq!(read_text(&at("good"), 99).unwrap().as_deref(), Some("text"));
    }
}
