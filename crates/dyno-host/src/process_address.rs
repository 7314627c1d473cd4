//! Identifies a process by its machine and its PID namespace.

use serde::{Deserialize, Serialize};

use crate::files::Root;

/// A process that another program can find again, if it runs on that machine and in that PID namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessAddress {
    /// The machine's boot ID; absent where the system does not report it.
    pub boot: Option<String>,
    /// The PID namespace of `pid`.
    pub namespace: Option<String>,
    /// Number of the process in its namespace.
    pub pid: u32,
}

impl ProcessAddress {
    /// Returns the address of the calling process.
    pub fn this() -> Self {
        let root = Root::system();
        let namespace = std::fs::read_link(root.path("proc/self/ns/pid")).ok();
        Self {
            boot: root.text("proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()),
            namespace: namespace.map(|link| link.to_string_lossy().into_owned()),
            pid: std::process::id(),
        }
    }

    /// The number of this process as `other` sees it; absent on another machine, in another namespace, or if
    /// unknown.
    pub fn pid_seen_by(&self, other: &Self) -> Option<u32> {
        let is_same = self.boot.is_some() && self.boot == other.boot && self.namespace == other.namespace;
        is_same.then_some(self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_visible_only_on_its_own_machine() {
        let this = ProcessAddress { boot: Some("b-1".into()), namespace: Some("pid:[1]".into()), pid: 7 };
        assert_eq!(this.pid_seen_by(&this), Some(7));
        let elsewhere = ProcessAddress { boot: Some("b-2".into()), ..this.clone() };
        let contained = ProcessAddress { namespace: Some("pid:[2]".into()), ..this.clone() };
        assert_eq!((this.pid_seen_by(&elsewhere), this.pid_seen_by(&contained)), (None, None));
        let unknown = ProcessAddress { boot: None, ..this };
        assert_eq!(unknown.pid_seen_by(&unknown), None);
    }
}
