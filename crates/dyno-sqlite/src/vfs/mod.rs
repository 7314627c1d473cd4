//! An instrumented VFS between SQLite and the operating system.
//!
//! SQLite counts hits and misses of its page cache, but not its file requests or their times. This VFS sits
//! between SQLite and its default VFS. It counts and times every read, write and sync by type of file. It can
//! bypass the page cache for the database file, so that a physical read reaches the device. Temporary files
//! are not counted.
//!
//! All `unsafe` of the VFS is in [`shim`] and [`file`], which translate between C and the safe modules next
//! to them.

mod direct;
mod file;
mod histogram;
mod shim;
mod stats;

use std::ffi::CStr;

pub(super) use direct::release_removed;
pub(super) use shim::{register, take_reason};
pub(super) use stats::{FileKind, FileStats, KindSum, RequestSum, of};

/// The name under which SQLite knows this VFS.
pub(super) const NAME: &CStr = c"dyno";

/// The URI parameter that bypasses the page cache for the database file.
pub(super) const DIRECT_PARAMETER: &CStr = c"direct";
