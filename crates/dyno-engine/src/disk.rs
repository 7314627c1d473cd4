//! Reads the free space of a file system, and formats sizes.
#![allow(unsafe_code, reason = "statvfs has no safe form in std")]

use std::ffi::CString;
use std::mem::MaybeUninit;

/// Bytes that users may still write on the file system of `path`; `None` if this host cannot read it.
pub fn free_bytes(path: &str) -> Option<u64> {
    let path = CString::new(path).ok()?;
    let mut facts = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` is a valid C string and `facts` has room for what statvfs writes.
    if unsafe { libc::statvfs(path.as_ptr(), facts.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: statvfs returned 0, so it has filled the structure.
    let facts = unsafe { facts.assume_init() };
    Some(facts.f_bavail * facts.f_frsize)
}

/// Formats a size in bytes for people.
pub fn human(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit < 4 {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", ["B", "KiB", "MiB", "GiB", "TiB"][unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_folder_has_free_space_and_missing_one_none() {
        assert!(free_bytes("/").is_some());
        assert_eq!(free_bytes("/there/is/no/such/folder"), None);
    }
}
