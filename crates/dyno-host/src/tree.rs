//! Stores files fetched from another machine: texts, symbolic links, and the places of the run.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A place on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemotePlace {
    /// The path without symbolic links, as far as they could be resolved.
    pub(crate) path: PathBuf,
    /// The device number, if the path itself is a block device: `8:16`.
    pub(crate) device: Option<String>,
    /// Whether it exists, or the reason why that is unknown.
    pub(crate) lookup: Result<(), String>,
}

/// Files of another machine; names have no leading slash.
#[derive(Debug, Default)]
pub(crate) struct HostFileTree {
    texts: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    places: BTreeMap<String, RemotePlace>,
}

impl HostFileTree {
    /// Adds a line to the text of `file`.
    pub(crate) fn put_line(&mut self, file: &str, line: &str) {
        let text = self.texts.entry(file.to_owned()).or_default();
        text.push_str(line);
        text.push('\n');
    }

    /// Adds a file whose content was not read.
    pub(crate) fn put_file(&mut self, file: &str) {
        self.texts.entry(file.to_owned()).or_default();
    }

    pub(crate) fn put_link(&mut self, link: &str, target: &str) {
        self.links.insert(link.to_owned(), target.to_owned());
    }

    pub(crate) fn put_place(&mut self, name: &str, place: RemotePlace) {
        self.places.insert(name.to_owned(), place);
    }

    pub(crate) fn place(&self, name: &str) -> Option<&RemotePlace> {
        self.places.get(name)
    }

    pub(crate) fn text(&self, file: &str) -> Option<&str> {
        self.texts.get(file).map(String::as_str)
    }

    /// The names in `folder`, sorted, each once.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{folder}/");
        let all = self.texts.keys().chain(self.links.keys());
        let mut names: Vec<String> =
            all.filter_map(|file| file.strip_prefix(&prefix)?.split('/').next()).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether there is such a file, folder or link.
    pub(crate) fn exists(&self, file: &str) -> bool {
        self.texts.contains_key(file) || self.links.contains_key(file) || !self.names(file).is_empty()
    }

    /// The path that `link` leads to, resolved by names: `../../devices/virtual/block/dm-0`.
    pub(crate) fn follow_link(&self, link: &str) -> Option<PathBuf> {
        let target = self.links.get(link)?;
        let mut path = PathBuf::from("/").join(Path::new(link).parent()?);
        for part in Path::new(target).components() {
            match part {
                Component::RootDir => path = PathBuf::from("/"),
                Component::ParentDir => {
                    path.pop();
                }
                Component::Normal(name) => path.push(name),
                Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::files::Root;
    use crate::locate::Location;

    fn there(path: &str) -> RemotePlace {
        RemotePlace { path: path.into(), device: None, lookup: Ok(()) }
    }

    #[test]
    fn remote_volume_is_resolved_to_its_disk() {
        let mut tree = HostFileTree::default();
        tree.put_line("proc/self/mountinfo", "1 0 253:0 / / rw - xfs /dev/mapper/root rw");
        tree.put_line("proc/self/mountinfo", "2 1 0:50 / /srv rw - btrfs /dev/mapper/vg-srv rw");
        tree.put_link("sys/dev/block/253:0", "../../devices/virtual/block/dm-0");
        for (name, target) in [
            ("dm-0", "../../devices/virtual/block/dm-0"),
            ("dm-1", "../../devices/virtual/block/dm-1"),
            ("sda2", "../../devices/pci/block/sda/sda2"),
            ("sda", "../../devices/pci/block/sda"),
        ] {
            tree.put_link(&format!("sys/class/block/{name}"), target);
        }
        tree.put_line("sys/class/block/dm-1/dm/name", "vg-srv");
        tree.put_line("sys/class/block/sda2/partition", "2");
        tree.put_file("sys/class/block/dm-0/slaves/sda2");
        tree.put_place("data", there("/var/lib/db"));
        tree.put_place("redo", there("/srv/log"));
        tree.put_place("gone", RemotePlace { lookup: Err("it is not there".into()), ..there("/var") });
        let root = Root::Fetched(Arc::new(tree));
        let location_of = |name| Location::find(&root, name, Path::new("/not/of/this/machine"));
        assert_eq!(location_of("data").layers, ["dm-0", "sda2", "sda"]);
        assert_eq!(
            location_of("redo").device.as_deref(),
            Some("dm-1"),
            "a file system whose number is no device's"
        );
        assert_eq!((location_of("gone").device, location_of("nothing").device), (None, None));
    }
}
