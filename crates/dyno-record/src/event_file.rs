//! Files for communication with a running command: the command appends events and reads requests.
//!
//! The files may be in a folder where everyone can create files. Dyno never writes to, reads or waits for another user's file.

use std::fs::{File, OpenOptions};
use std::io::{Error, Read as _, Result};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::private_file::check_shared;

/// The longest request, in bytes; longer ones are ignored.
const REQUEST_BYTES_MAX: u64 = 64;

/// Opens the file, named pipe or device at `path` for appending. A missing file is created with access for this user only.
///
/// # Errors
/// It is a link, a socket or a folder, has several names, or is another user's pipe; everyone may write to it, another user
/// could have prepared it, or the pipe has no reader.
pub fn open_to_append(path: &Path) -> Result<File> {
    // Without `NONBLOCK`, opening a pipe without a reader would block forever.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let mut options = OpenOptions::new();
    let file = options.append(true).create(true).mode(0o600).custom_flags(flags).open(path);
    let file = file.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => Error::other("it is a symbolic link, and links are not followed"),
        Some(Errno::NXIO) => Error::other("it is a pipe without a reader, or a socket"),
        _ => error,
    })?;
    let facts = file.metadata()?;
    let user = rustix::process::geteuid().as_raw();
    if facts.file_type().is_fifo() && facts.uid() != user {
        return Err(Error::other(format!("it is a pipe of user {}, not of {user}", facts.uid())));
    }
    if facts.is_file() {
        if facts.nlink() != 1 {
            return Err(Error::other("it has more than one hard link, so it may be another file"));
        }
        if facts.mode() & 0o002 != 0 {
            return Err(Error::other(format!("all users can write to it: chmod o-w {}", path.display())));
        }
        check_shared(path)?;
    }
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}

/// Reads the request that this user wrote into the file at `path` for a running command. `None` if there is no request, or
/// another user could have written it.
pub fn read_request(path: &Path) -> Option<String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let facts = file.metadata().ok()?;
    let is_trusted = [0, rustix::process::geteuid().as_raw()].contains(&facts.uid());
    if !facts.is_file() || facts.nlink() != 1 || facts.mode() & 0o002 != 0 || !is_trusted {
        return None;
    }
    let mut text = String::new();
    file.take(REQUEST_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn make_pipe(path: &Path) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn event_file_writable_by_other_users_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        set_mode(folder.path(), 0o1777);
        writeln!(open_to_append(&at("new")).unwrap(), "a").unwrap();
        assert_eq!(std::fs::metadata(at("new")).unwrap().mode() & 0o777, 0o600);
        writeln!(open_to_append(&at("new")).unwrap(), "b").unwrap();
        assert_eq!(std::fs::read_to_string(at("new")).unwrap(), "a\nb\n");

        std::fs::write(at("victim"), "kept").unwrap();
        symlink(at("victim"), at("link")).unwrap();
        symlink(at("none"), at("dangling")).unwrap();
        std::fs::hard_link(at("victim"), at("hard")).unwrap();
        std::fs::write(at("wide"), "").unwrap();
        set_mode(&at("wide"), 0o666);
        make_pipe(&at("unread"));
        let _listener = UnixListener::bind(at("socket")).unwrap();
        let mut names = vec!["link", "dangling", "hard", "victim", "wide", "unread", "socket", "."];
        let reader = OFlags::NONBLOCK.bits() as i32;
        let _reader = if rustix::process::geteuid().is_root() {
            std::fs::write(at("theirs"), "").unwrap();
            make_pipe(&at("their-pipe"));
            for name in ["theirs", "their-pipe"] {
                chown(at(name), Some(65_534), None).unwrap();
                names.push(name);
            }
            Some(OpenOptions::new().read(true).custom_flags(reader).open(at("their-pipe")).unwrap())
        } else {
            None
        };
        for name in names {
            assert!(open_to_append(&at(name)).is_err(), "{name}");
        }
        assert_eq!(std::fs::read_to_string(at("victim")).unwrap(), "kept");
        assert!(!at("none").exists());

        // This user's own pipe works while a program reads it.
        make_pipe(&at("pipe"));
        let mut end = OpenOptions::new().read(true).custom_flags(reader).open(at("pipe")).unwrap();
        writeln!(open_to_append(&at("pipe")).unwrap(), "event").unwrap();
        let mut text = [0; 6];
        end.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"event\n");
        assert!(open_to_append(Path::new("/dev/null")).is_ok());
    }

    #[test]
    fn request_file_from_another_user_is_ignored_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("skip"), "skip\n").unwrap();
        assert_eq!(read_request(&at("skip")).as_deref(), Some("skip"));
        assert_eq!(read_request(&at("none")), None);
        symlink(at("skip"), at("link")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        symlink(at("none"), at("dangling")).unwrap();
        make_pipe(&at("pipe"));
        std::fs::write(at("wide"), "skip").unwrap();
        set_mode(&at("wide"), 0o666);
        std::fs::write(at("two"), "skip").unwrap();
        std::fs::hard_link(at("two"), at("hard")).unwrap();
        let _listener = UnixListener::bind(at("socket")).unwrap();
        let mut names = vec!["link", "endless", "dangling", "pipe", "wide", "hard", "socket", "."];
        if rustix::process::geteuid().is_root() {
            std::fs::write(at("theirs"), "skip").unwrap();
            chown(at("theirs"), Some(65_534), None).unwrap();
            names.push("theirs");
        }
        for name in names {
            assert_eq!(read_request(&at(name)), None, "{name}");
        }
        std::fs::write(at("long"), "x".repeat(1_000)).unwrap();
        assert_eq!(read_request(&at("long")).unwrap().len(), REQUEST_BYTES_MAX as usize);
    }
}
