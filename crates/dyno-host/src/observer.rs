//! Reads the host's counters, often: files stay open, buffers and names are used again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{KeptFile, Root};
use crate::locate::{Location, sys_folder};
use crate::parse::cpu::parse_stat;
use crate::parse::disk::{DiskCounters, parse_diskstats};
use crate::parse::memory::{parse_meminfo, parse_vmstat};
use crate::parse::net::{NetworkCounters, parse_net_dev};
use crate::parse::nfs::parse_mountstats;
use crate::parse::pressure::parse_pressure;
use crate::parse::process::{parse_process_stat, parse_ticks_per_s};
use crate::snapshot::{Fixed, HostSnapshot};

/// The resources whose pressure the kernel measures.
const RESOURCES: [&str; 3] = ["cpu", "io", "memory"];

/// Reads the counters of this machine. One snapshot takes a fraction of a millisecond on a machine of ordinary size.
#[derive(Debug)]
pub struct HostObserver {
    root: Root,
    stat: KeptFile,
    meminfo: KeptFile,
    vmstat: KeptFile,
    diskstats: KeptFile,
    net_dev: KeptFile,
    process: KeptFile,
    mountstats: KeptFile,
    pressure: Vec<(&'static str, KeptFile)>,
    /// NFS mounts of the places: the place's name, and where it is mounted.
    nfs: Vec<(Arc<str>, PathBuf)>,
    /// Every device of the places, of all layers.
    held: BTreeSet<String>,
    /// Names seen so far, and whether their devices are watched; so that a name is looked up and stored once.
    devices: BTreeMap<Arc<str>, bool>,
    interfaces: BTreeSet<Arc<str>>,
    fixed: Arc<Fixed>,
    buffer: Vec<u8>,
}

impl HostObserver {
    /// An observer of this machine. `paths` are the places that matter to the run, such as `("data", "/srv/pg")`; a
    /// path need not exist yet.
    pub fn new(paths: &[(&str, &Path)]) -> Self {
        Self::of_root(Root::system(), paths)
    }

    fn of_root(root: Root, paths: &[(&str, &Path)]) -> Self {
        let places: Vec<Location> =
            paths.iter().map(|(name, path)| Location::find(&root, name, path)).collect();
        let open = |file: &str| KeptFile::open(&root, file);
        let pressure = RESOURCES.map(|name| (name, open(&format!("proc/pressure/{name}"))));
        let nfs =
            places.iter().filter_map(|place| Some((place.name.as_str().into(), place.nfs_point()?.into())));
        let devices = places.iter().filter_map(|place| Some((place.name.clone(), place.device.clone()?)));
        let auxv = std::fs::read(root.path("proc/self/auxv")).unwrap_or_default();
        Self {
            stat: open("proc/stat"),
            meminfo: open("proc/meminfo"),
            vmstat: open("proc/vmstat"),
            diskstats: open("proc/diskstats"),
            net_dev: open("proc/net/dev"),
            process: open("proc/self/stat"),
            mountstats: open("proc/self/mountstats"),
            pressure: pressure.into_iter().collect(),
            nfs: nfs.collect(),
            held: places.iter().flat_map(|place| place.layers.iter().cloned()).collect(),
            devices: BTreeMap::new(),
            interfaces: BTreeSet::new(),
            fixed: Arc::new(Fixed { ticks_per_s: parse_ticks_per_s(&auxv), devices: devices.collect() }),
            buffer: Vec::with_capacity(64 << 10),
            root,
        }
    }

    /// The block device that the place's file system is on, as `/proc/diskstats` names it (`vda1`, `dm-0`). Absent where
    /// there is none (tmpfs, NFS) or it cannot be found out.
    pub fn device_of(&self, place: &str) -> Option<&str> {
        self.fixed.devices.iter().find(|(name, _)| name == place).map(|(_, device)| device.as_str())
    }

    /// Reads all counters. What cannot be read is absent.
    pub fn snapshot(&mut self) -> HostSnapshot {
        let buffer = &mut self.buffer;
        let mut snapshot = HostSnapshot { fixed: Arc::clone(&self.fixed), ..HostSnapshot::default() };
        // What moves fastest comes first, so that it is closest to the moment the caller notes.
        snapshot.cpu = self.stat.read(buffer).and_then(parse_stat);
        snapshot.process = self.process.read(buffer).and_then(parse_process_stat);
        for (resource, file) in &mut self.pressure {
            if let Some(pressure) = file.read(buffer).and_then(parse_pressure) {
                snapshot.pressure.insert(resource, pressure);
            }
        }
        snapshot.memory = self.meminfo.read(buffer).map(parse_meminfo);
        snapshot.vm = self.vmstat.read(buffer).map(parse_vmstat);
        for (name, path) in &self.nfs {
            let counters = self.mountstats.read(buffer).and_then(|text| parse_mountstats(text, path));
            if let Some(counters) = counters {
                snapshot.nfs.insert(Arc::clone(name), counters);
            }
        }
        snapshot.devices = self.read_devices();
        snapshot.network = self.read_network();
        snapshot
    }

    fn read_devices(&mut self) -> BTreeMap<Arc<str>, DiskCounters> {
        let Some(text) = self.diskstats.read(&mut self.buffer) else { return BTreeMap::new() };
        let mut found = BTreeMap::new();
        for (name, counters) in parse_diskstats(text) {
            let held = self.held.contains(name);
            if !held && counters.is_untouched() {
                continue;
            }
            let (name, watched) = match self.devices.get_key_value(name) {
                Some((name, &watched)) => (Arc::clone(name), watched),
                None => {
                    // A partition's work is its disk's, too, so one that no place is on would only count it twice.
                    let watched = held || !self.root.has(&format!("{}/partition", sys_folder(name)));
                    let name: Arc<str> = name.into();
                    self.devices.insert(Arc::clone(&name), watched);
                    (name, watched)
                }
            };
            if watched {
                found.insert(name, counters);
            }
        }
        found
    }

    fn read_network(&mut self) -> BTreeMap<Arc<str>, NetworkCounters> {
        let Some(text) = self.net_dev.read(&mut self.buffer) else { return BTreeMap::new() };
        let mut found = BTreeMap::new();
        for (name, counters) in parse_net_dev(text) {
            let name = self.interfaces.get(name).cloned().unwrap_or_else(|| {
                let name: Arc<str> = name.into();
                self.interfaces.insert(Arc::clone(&name));
                name
            });
            found.insert(name, counters);
        }
        found
    }
}
