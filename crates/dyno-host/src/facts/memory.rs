//! Describes memory, huge pages and swap.

use dyno_record::Host;

use super::map::FactMap;
use crate::files::Root;
use crate::parse::memory::{meminfo_entries, parse_meminfo};

pub(super) fn add(root: &Root, host: &mut Host, facts: &mut FactMap) {
    let text = root.text("proc/meminfo").unwrap_or_default();
    let memory = parse_meminfo(&text);
    let entry =
        |wanted: &str| meminfo_entries(&text).find(|(name, _)| *name == wanted).and_then(|(_, value)| value);
    host.memory_bytes = memory.total_bytes.unwrap_or_default();
    facts.put("huge_pages.total", entry("HugePages_Total"));
    facts.put("huge_pages.free", entry("HugePages_Free"));
    facts.put("huge_pages.size_bytes", entry("Hugepagesize"));
    facts.put("swap.total_bytes", memory.swap_total_bytes);
    for file in ["enabled", "defrag"] {
        let choice = root.text(&format!("sys/kernel/mm/transparent_hugepage/{file}"));
        let chosen = choice.as_deref().map(|text| chosen(text).to_owned());
        facts.put(format!("transparent_huge_pages.{file}"), chosen);
    }
}

/// The active choice, which the kernel writes in brackets: `always [madvise] never`.
pub(super) fn chosen(choices: &str) -> &str {
    choices.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(choices, |(chosen, _)| chosen)
}
