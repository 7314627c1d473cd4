//! Describes network interfaces that are not down, and their speed; virtual ones have none.

use super::map::FactMap;
use crate::files::Root;

/// The most interfaces that are described; hosts of many containers have thousands.
const INTERFACES_MAX: usize = 64;

pub(super) fn add(root: &Root, facts: &mut FactMap) {
    for name in root.names("sys/class/net").into_iter().filter(|name| name != "lo").take(INTERFACES_MAX) {
        let file = |file: &str| format!("sys/class/net/{name}/{file}");
        if root.text(&file("operstate")).as_deref() == Some("down") {
            continue;
        }
        // An interface without a fixed speed reports -1, which is not a number here.
        facts.put(format!("net.{name}.speed_mbit_per_s"), root.number(&file("speed")));
        facts.put(format!("net.{name}.mtu_bytes"), root.number(&file("mtu")));
        facts.put(format!("net.{name}.state"), root.text(&file("operstate")));
    }
}
