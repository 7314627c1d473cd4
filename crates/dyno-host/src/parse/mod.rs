//! Parses the kernel's text formats, one file each. Parsers take text and never fail: missing values are
//! absent.

pub(crate) mod cgroup;
pub(crate) mod cpu;
pub(crate) mod disk;
pub(crate) mod list;
pub(crate) mod memory;
pub(crate) mod mounts;
pub(crate) mod net;
pub(crate) mod nfs;
pub(crate) mod pressure;
pub(crate) mod process;

#[cfg(test)]
mod any_text_tests;
