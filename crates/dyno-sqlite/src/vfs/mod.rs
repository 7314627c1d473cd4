//! SQLite's way to the operating system, with instruments.
//!
//! SQLite counts the pages its cache has or lacks, but not the requests it makes, nor how long they take. This VFS sits
//! between SQLite and its default VFS, counts and times every read, write and sync by kind of file, and can take the
//! database file past the page cache, so that a physical read is one. Temporary files are left alone.
//!
//! All `unsafe` of the VFS is in [`shim`] and [`file`], which translate between C and the safe rooms beside them.

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

/// The URI parameter that takes the database file past the page cache.
pub(super) const DIRECT_PARAMETER: &CStr = c"direct";
