//! What the device itself counts while it is measured: the proof that requests reached it.

use std::path::Path;

use dyno_host::HostObserver;

/// The place's name in host facts.
pub(crate) const PLACE: &str = "data";

/// What a device (or an NFS server) has done since some moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Bytes read from it.
    pub(crate) read_bytes: u64,
    /// Bytes written to it.
    pub(crate) write_bytes: u64,
    /// Flushes of its cache; absent where the kernel does not count them.
    pub(crate) flushes: Option<u64>,
}

/// Reads the counters of a folder's device.
#[derive(Debug)]
pub(crate) struct Witness(HostObserver);

impl Witness {
    /// Of the device that `folder` is on.
    pub(crate) fn of(folder: &Path) -> Self {
        Self(HostObserver::new(&[(PLACE, folder)]))
    }

    /// The device's name.
    pub(crate) fn device(&self) -> Option<&str> {
        self.0.device_of(PLACE)
    }

    /// Its counters now; nothing where nobody counts.
    pub(crate) fn now(&mut self) -> Option<Moved> {
        let snapshot = self.0.snapshot();
        if let Some(nfs) = snapshot.nfs.get(PLACE) {
            return Some(Moved { read_bytes: nfs.read_bytes, write_bytes: nfs.write_bytes, flushes: None });
        }
        let disk = snapshot.devices.get(self.0.device_of(PLACE)?)?;
        Some(Moved { read_bytes: disk.read_bytes, write_bytes: disk.write_bytes, flushes: disk.flushes })
    }

    /// Memory that may be had now, bytes.
    pub(crate) fn available_bytes(&mut self) -> Option<u64> {
        self.0.snapshot().memory.and_then(|memory| memory.available_bytes)
    }

    /// What it has done since `before`.
    pub(crate) fn since(&mut self, before: Option<Moved>) -> Option<Moved> {
        let (before, now) = (before?, self.now()?);
        Some(Moved {
            read_bytes: now.read_bytes.checked_sub(before.read_bytes)?,
            write_bytes: now.write_bytes.checked_sub(before.write_bytes)?,
            flushes: now.flushes.zip(before.flushes).and_then(|(now, before)| now.checked_sub(before)),
        })
    }
}
