//! Reads the device's own counters around each step, as proof that the requests reached the device.

use std::path::Path;

use dyno_host::HostObserver;

/// Name of the file system in the host facts.
pub(crate) const PLACE: &str = "data";

/// What a device (or an NFS server) did between two readings of its counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DeviceActivity {
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// Cache flushes; absent where the kernel does not count them.
    pub(crate) flushes: Option<u64>,
}

/// Reads the counters of a folder's device.
#[derive(Debug)]
pub(crate) struct DeviceCounters(HostObserver);

impl DeviceCounters {
    /// Observes the device that holds `folder`.
    pub(crate) fn of(folder: &Path) -> Self {
        Self(HostObserver::new(&[(PLACE, folder)]))
    }

    pub(crate) fn device(&self) -> Option<&str> {
        self.0.device_of(PLACE)
    }

    /// The device's counters now; `None` where the host counts nothing.
    pub(crate) fn read_counters(&mut self) -> Option<DeviceActivity> {
        let snapshot = self.0.snapshot();
        if let Some(nfs) = snapshot.nfs.get(PLACE) {
            return Some(DeviceActivity {
                read_bytes: nfs.read_bytes,
                write_bytes: nfs.write_bytes,
                flushes: None,
            });
        }
        let disk = snapshot.devices.get(self.0.device_of(PLACE)?)?;
        Some(DeviceActivity {
            read_bytes: disk.read_bytes,
            write_bytes: disk.write_bytes,
            flushes: disk.flushes,
        })
    }

    /// Memory available now, in bytes.
    pub(crate) fn available_bytes(&mut self) -> Option<u64> {
        self.0.snapshot().memory.and_then(|memory| memory.available_bytes)
    }

    /// What the device did since `before`.
    pub(crate) fn activity_since(&mut self, before: Option<DeviceActivity>) -> Option<DeviceActivity> {
        let (before, now) = (before?, self.read_counters()?);
        Some(DeviceActivity {
            read_bytes: now.read_bytes.checked_sub(before.read_bytes)?,
            write_bytes: now.write_bytes.checked_sub(before.write_bytes)?,
            flushes: now.flushes.zip(before.flushes).and_then(|(now, before)| now.checked_sub(before)),
        })
    }
}
