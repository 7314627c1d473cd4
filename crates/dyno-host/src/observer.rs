//! Reads the host's counters often: files stay open, buffers and names are reused.

use std::collections::BTreeMap;
use std::path::Path;

use crate::counted::{FILES, HostCounterReader, HostFileReader};
use crate::files::{KeptFile, Root};
use crate::locate::Location;
use crate::parse::process::parse_ticks_per_s;
use crate::snapshot::HostSnapshot;

/// Reads the counters of this machine. A snapshot takes a fraction of a millisecond on an ordinary machine.
#[derive(Debug)]
pub struct HostObserver {
    root: Root,
    files: Files,
    counted: HostCounterReader,
}

/// The kernel's files, kept open.
#[derive(Debug)]
struct Files {
    files: BTreeMap<&'static str, KeptFile>,
    buffer: Vec<u8>,
}

impl HostFileReader for Files {
    fn text(&mut self, file: &'static str) -> Option<&str> {
        self.files.get_mut(file)?.read(&mut self.buffer)
    }
}

impl HostObserver {
    /// An observer of this machine. `paths` are the places of the run, such as `("data", "/srv/pg")`; a path
    /// need not exist yet.
    pub fn new(paths: &[(&str, &Path)]) -> Self {
        let root = Root::system();
        let places: Vec<Location> =
            paths.iter().map(|(name, path)| Location::find(&root, name, path)).collect();
        Self::of(root, &places, usize::MAX)
    }

    /// An observer of known places, with limits on the number of devices and interfaces.
    pub(crate) fn of(root: Root, places: &[Location], names_max: usize) -> Self {
        let auxv = std::fs::read(root.path("proc/self/auxv")).unwrap_or_default();
        let files = FILES.map(|file| (file, KeptFile::open(&root, file)));
        Self {
            files: Files { files: files.into(), buffer: Vec::with_capacity(64 << 10) },
            counted: HostCounterReader::new(places, parse_ticks_per_s(&auxv), names_max),
            root,
        }
    }

    /// The block device of the place's file system, as `/proc/diskstats` names it (`vda1`, `dm-0`). Absent
    /// where there is none (tmpfs, NFS) or it cannot be found.
    pub fn device_of(&self, place: &str) -> Option<&str> {
        let mut devices = self.counted.fixed.devices.iter();
        devices.find(|(name, _)| name == place).map(|(_, device)| device.as_str())
    }

    /// Reads all counters. What cannot be read is absent.
    pub fn snapshot(&mut self) -> HostSnapshot {
        self.counted.snapshot(&mut self.files, &self.root)
    }
}
