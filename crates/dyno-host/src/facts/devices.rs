//! The mounts of the paths that matter, and the block devices behind them.

use std::collections::{BTreeMap, BTreeSet};

use super::map::FactMap;
use super::memory::chosen;
use crate::files::Root;
use crate::locate::{Location, sys_folder};

/// Facts of a block device that are plain files in its sysfs folder.
const FILES: [(&str, &str); 11] = [
    ("rotational", "queue/rotational"),
    ("nr_requests", "queue/nr_requests"),
    ("read_ahead_kb", "queue/read_ahead_kb"),
    ("logical_block_bytes", "queue/logical_block_size"),
    ("physical_block_bytes", "queue/physical_block_size"),
    ("max_sectors_kb", "queue/max_sectors_kb"),
    ("write_cache", "queue/write_cache"),
    ("model", "device/model"),
    ("queue_depth_max", "device/queue_depth"),
    ("volume", "dm/name"),
    ("array_level", "md/level"),
];

/// Mounts by the names of the places: `device fstype options`.
pub(super) fn mounts(places: &[Location]) -> BTreeMap<String, String> {
    let described = places.iter().filter_map(|place| {
        let mount = place.mount.as_ref()?;
        let words = format!("{} {} {}", mount.source, mount.fstype, mount.options);
        Some((place.name.clone(), words.trim_end().to_owned()))
    });
    described.collect()
}

pub(super) fn add(root: &Root, places: &[Location], facts: &mut FactMap) {
    for place in places {
        facts.put(format!("place.{}.device", place.name), place.device.as_ref());
        if place.layers.len() > 1 {
            facts.put(format!("place.{}.layers", place.name), Some(place.layers.join(" ")));
        }
    }
    let devices: BTreeSet<&String> = places.iter().flat_map(|place| &place.layers).collect();
    for device in devices {
        let folder = sys_folder(device);
        let name = |fact: &str| format!("device.{device}.{fact}");
        let scheduler = root.text(&format!("{folder}/queue/scheduler"));
        facts.put(name("scheduler"), scheduler.as_deref().map(chosen));
        // The kernel reports sizes in sectors of 512 bytes, whatever the device's own sector size.
        let sectors = root.number(&format!("{folder}/size"));
        facts.put(name("size_bytes"), sectors.and_then(|sectors| sectors.checked_mul(512)));
        for (fact, file) in FILES {
            facts.put(name(fact), root.text(&format!("{folder}/{file}")));
        }
    }
}
