//! Parses `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Its number, by which an open file identifies its mount.
    pub(crate) id: u64,
    /// Device number of the file system; `0:N` if it has no block device, or more than one.
    pub(crate) device: String,
    /// The part of the file system that is mounted.
    pub(crate) root: PathBuf,
    /// The mount point, an absolute path.
    pub(crate) point: PathBuf,
    /// The file system's type: `ext4`.
    pub(crate) fstype: String,
    /// What is mounted: `/dev/vda1`, `server:/export`.
    pub(crate) source: String,
    /// Options of the mount and of the file system, without those that name users or contain secrets.
    pub(crate) options: String,
    /// Options of the file system, unfiltered.
    pub(crate) super_options: String,
}

/// Parses `/proc/self/mountinfo`, in the order of mounting. Lines that cannot be parsed are skipped.
pub(crate) fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Mount> {
    // A lone hyphen ends the optional fields.
    let (mount, file_system) = line.split_once(" - ")?;
    let mut fields = mount.split(' ');
    let id = fields.next()?.parse().ok()?;
    let device = fields.nth(1)?.to_owned();
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    let mount_options = fields.next()?;
    let mut fields = file_system.split(' ');
    let (fstype, source) = (fields.next()?, unescape(fields.next()?));
    let super_options = unescape(fields.next().unwrap_or_default());
    Some(Mount {
        id,
        device,
        root: root.into(),
        point: point.into(),
        fstype: fstype.to_owned(),
        source: without_user(&source).to_owned(),
        options: shown_options(mount_options, &super_options),
        super_options,
    })
}

/// Decodes the kernel's octal escapes of blanks, tabs, line breaks and backslashes.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits =
            tail.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Removes the user from sources such as `user@server:/path` of `sshfs`.
fn without_user(source: &str) -> &str {
    match source.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest,
        _ => source,
    }
}

/// Joins both lists of options; each option appears once.
fn shown_options(mount: &str, file_system: &str) -> String {
    const HIDDEN: [&str; 9] =
        ["user", "username", "pass", "password", "cred", "credentials", "domain", "secret", "user_id"];
    let mut shown: Vec<&str> = Vec::new();
    for option in mount.split(',').chain(file_system.split(',')).filter(|option| !option.is_empty()) {
        let name = option.split('=').next().unwrap_or(option);
        if !HIDDEN.contains(&name) && !shown.contains(&option) {
            shown.push(option);
        }
    }
    shown.join(",")
}

/// The mount of `path` (absolute, without symbolic links), by path names: the deepest one. Of several at one
/// mount point, the last one, which hides the others.
pub(crate) fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let on = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    on.max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
        40 27 8:17 / /srv/data rw,noatime shared:5 master:1 - xfs /dev/sdb1 rw,attr2,noquota\n\
        41 27 0:50 /sub /srv/my\\040data rw - btrfs /dev/sdc rw,ssd,subvol=/sub\n\
        42 27 0:61 / /mnt/nfs rw,relatime - nfs4 filer:/vol/db rw,vers=4.2,rsize=1048576,proto=tcp,addr=10.0.0.7\n\
        43 27 0:62 / /mnt/share rw - cifs //srv/share rw,username=alice,password=x,domain=CORP,vers=3.1.1\n\
        44 27 0:63 / /mnt/ssh rw - fuse.sshfs alice@host:/data rw,user_id=1000\n\
        45 27 8:33 / /srv/data rw - ext4 /dev/sdc1 rw\nrubbish\n";

    #[test]
    fn deepest_and_last_mount_of_a_path_wins() {
        let mounts = parse_mountinfo(TEXT);
        let source = |path: &str| mount_of(&mounts, Path::new(path)).unwrap().source.clone();
        assert_eq!(source("/srv/data/pg"), "/dev/sdc1");
        assert_eq!(source("/srv/database"), "/dev/vda");
        assert_eq!(source("/srv/my data/x"), "/dev/sdc");
        assert_eq!(source("/"), "/dev/vda");
        assert!(mount_of(&mounts, Path::new("relative")).is_none());
    }

    #[test]
    fn mountinfo_fields_and_options_are_read() {
        let mounts = parse_mountinfo(TEXT);
        assert_eq!(mounts.len(), 7);
        assert_eq!((mounts[1].id, mounts[1].device.as_str()), (40, "8:17"));
        assert_eq!(mounts[1].options, "rw,noatime,attr2,noquota");
        assert_eq!(mounts[2].root, Path::new("/sub"));
        assert_eq!(mounts[3].options, "rw,relatime,vers=4.2,rsize=1048576,proto=tcp,addr=10.0.0.7");
    }

    #[test]
    fn mount_credentials_are_not_shown() {
        let mounts = parse_mountinfo(TEXT);
        assert_eq!(mounts[4].options, "rw,vers=3.1.1");
        assert_eq!((mounts[5].source.as_str(), mounts[5].options.as_str()), ("host:/data", "rw"));
    }

    proptest! {
        #[test]
        fn mount_path_escapes_are_decoded(text in "[ -~\t\n]{0,40}") {
            let escaped: String = text
                .chars()
                .map(|c| match c {
                    ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", u32::from(c)),
                    c => c.to_string(),
                })
                .collect();
            prop_assert_eq!(unescape(&escaped), text);
        }
    }
}
