//! Builds a snapshot from the texts of the kernel's counters, for this machine or another one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::files::Root;
use crate::locate::{Location, sys_folder};
use crate::parse::cpu::parse_stat;
use crate::parse::disk::{DiskCounters, parse_diskstats};
use crate::parse::memory::{parse_meminfo, parse_vmstat};
use crate::parse::net::{NetworkCounters, parse_net_dev};
use crate::parse::nfs::parse_mountstats;
use crate::parse::pressure::parse_pressure;
use crate::parse::process::parse_process_stat;
use crate::snapshot::{Fixed, HostSnapshot, RESOURCES};

/// The files of a snapshot, in reading order. The fastest counters come first, so that they are closest to
/// the moment that the caller notes.
pub(crate) const FILES: [&str; 10] = [
    "proc/stat",
    "proc/self/stat",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/pressure/memory",
    "proc/meminfo",
    "proc/vmstat",
    "proc/self/mountstats",
    "proc/diskstats",
    "proc/net/dev",
];

/// Provides the present text of each of the [`FILES`].
pub(crate) trait HostFileReader {
    /// The text; absent where it cannot be read.
    fn text(&mut self, file: &'static str) -> Option<&str>;
}

/// What an observer keeps about a machine between snapshots.
#[derive(Debug)]
pub(crate) struct HostCounterReader {
    /// NFS mounts of the places: the place's name and its mount point.
    nfs: Vec<(Arc<str>, PathBuf)>,
    /// Every device of the places, on all layers.
    held: BTreeSet<String>,
    /// Device names seen so far, and whether they are watched. Each name is looked up and stored once.
    devices: BTreeMap<Arc<str>, bool>,
    interfaces: BTreeSet<Arc<str>>,
    /// The most devices, and the most interfaces, that are counted separately.
    names_max: usize,
    pub(crate) fixed: Arc<Fixed>,
}

impl HostCounterReader {
    /// For a machine with these places and this many clock ticks per second.
    pub(crate) fn new(places: &[Location], ticks_per_s: Option<u64>, names_max: usize) -> Self {
        let nfs =
            places.iter().filter_map(|place| Some((place.name.as_str().into(), place.nfs_point()?.into())));
        let devices = places.iter().filter_map(|place| Some((place.name.clone(), place.device.clone()?)));
        Self {
            nfs: nfs.collect(),
            held: places.iter().flat_map(|place| place.layers.iter().cloned()).collect(),
            devices: BTreeMap::new(),
            interfaces: BTreeSet::new(),
            names_max,
            fixed: Arc::new(Fixed { ticks_per_s, devices: devices.collect() }),
        }
    }

    /// Whether counters of NFS mounts are wanted.
    pub(crate) fn has_nfs(&self) -> bool {
        !self.nfs.is_empty()
    }

    /// Reads all counters; `root` tells which devices are partitions. What cannot be read is absent.
    pub(crate) fn snapshot(&mut self, texts: &mut dyn HostFileReader, root: &Root) -> HostSnapshot {
        let mut snapshot = HostSnapshot { fixed: Arc::clone(&self.fixed), ..HostSnapshot::default() };
        snapshot.cpu = texts.text("proc/stat").and_then(parse_stat);
        snapshot.process = texts.text("proc/self/stat").and_then(parse_process_stat);
        for (resource, file) in RESOURCES {
            if let Some(pressure) = texts.text(file).and_then(parse_pressure) {
                snapshot.pressure.insert(resource, pressure);
            }
        }
        snapshot.memory = texts.text("proc/meminfo").map(parse_meminfo);
        snapshot.vm = texts.text("proc/vmstat").map(parse_vmstat);
        for (name, path) in &self.nfs {
            let text = texts.text("proc/self/mountstats");
            if let Some(counters) = text.and_then(|text| parse_mountstats(text, path)) {
                snapshot.nfs.insert(Arc::clone(name), counters);
            }
        }
        if let Some(text) = texts.text("proc/diskstats") {
            snapshot.devices = self.devices_of(parse_diskstats(text), root);
        }
        if let Some(text) = texts.text("proc/net/dev") {
            snapshot.network = self.interfaces_of(parse_net_dev(text));
        }
        snapshot
    }

    /// The counters of the watched devices.
    pub(crate) fn devices_of<'t>(
        &mut self,
        all: impl Iterator<Item = (&'t str, DiskCounters)>,
        root: &Root,
    ) -> BTreeMap<Arc<str>, DiskCounters> {
        let mut devices = BTreeMap::new();
        for (name, counters) in all.filter(|(name, _)| is_plain(name)) {
            let held = self.held.contains(name);
            if !held && counters.is_untouched() {
                continue;
            }
            let (name, watched) = match self.devices.get_key_value(name) {
                Some((name, &watched)) => (Arc::clone(name), watched),
                None if self.devices.len() >= self.names_max && !held => continue,
                None => {
                    // A partition's work counts for its disk too, so a partition without a place would only
                    // be counted twice.
                    let watched = held || !root.exists(&format!("{}/partition", sys_folder(name)));
                    let name: Arc<str> = name.into();
                    self.devices.insert(Arc::clone(&name), watched);
                    (name, watched)
                }
            };
            if watched {
                devices.insert(name, counters);
            }
        }
        devices
    }

    /// The counters of the interfaces; each name is stored once.
    pub(crate) fn interfaces_of<'t>(
        &mut self,
        all: impl Iterator<Item = (&'t str, NetworkCounters)>,
    ) -> BTreeMap<Arc<str>, NetworkCounters> {
        let mut interfaces = BTreeMap::new();
        for (name, counters) in all.filter(|(name, _)| is_plain(name)) {
            let stored_name = self.interfaces.get(name).cloned();
            if stored_name.is_none() && self.interfaces.len() >= self.names_max {
                continue;
            }
            let name = stored_name.unwrap_or_else(|| {
                let name: Arc<str> = name.into();
                self.interfaces.insert(Arc::clone(&name));
                name
            });
            interfaces.insert(name, counters);
        }
        interfaces
    }
}

/// Whether the kernel could give such a name; answers of another machine are not trusted.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && !name.chars().any(|c| c.is_control() || c.is_whitespace())
}
