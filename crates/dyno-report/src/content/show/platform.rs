//! The platform: non-default settings, the host's facts, and errors.

use dyno_record::{Host, RecordKind, RunRecord};

use super::lists::pairs;
use crate::content::facts::is_beside;
use crate::content::role;
use crate::number::{bytes, count};
use crate::style::Style;

/// Maximum settings, facts and errors shown.
const SETTINGS_MAX: usize = 40;
const FACTS_MAX: usize = 30;
const ERRORS_MAX: usize = 10;
/// Maximum hosts shown besides the driver host.
const LIST_MAX: usize = 8;

/// Settings that the source of imported figures states, default or not.
fn known_settings(record: &RunRecord, style: &Style) -> String {
    let settings = record.targets.iter().flat_map(|target| &target.identity.settings);
    let list: Vec<(String, String)> = settings.map(|(name, value)| (name.clone(), value.clone())).collect();
    match list.as_slice() {
        [] => "not stated by the source\n".into(),
        list => pairs(list, SETTINGS_MAX, style),
    }
}

/// Settings that differ from the product's defaults.
pub(super) fn settings(record: &RunRecord, style: &Style) -> String {
    if record.kind == RecordKind::Import {
        return known_settings(record, style);
    }
    let list: Vec<(String, String)> = record
        .targets
        .iter()
        .flat_map(|target| {
            let identity = &target.identity;
            identity.non_default.iter().map(|name| {
                (name.clone(), identity.settings.get(name).cloned().unwrap_or_else(|| "not stated".into()))
            })
        })
        .collect();
    if list.is_empty() {
        return if record.targets.is_empty() {
            String::new()
        } else {
            "all at the product's defaults\n".into()
        };
    }
    pairs(&list, SETTINGS_MAX, style)
}

pub(super) fn host(record: &RunRecord, style: &Style) -> String {
    one_host(record, record.host(), style)
}

/// Database hosts observed from elsewhere, one after the other.
pub(super) fn hosts_beside(record: &RunRecord, style: &Style) -> String {
    let beside = record.hosts.iter().filter(|host| is_beside(record, host)).take(LIST_MAX);
    beside.map(|host| one_host(record, host, style)).collect::<Vec<_>>().join("\n")
}

fn one_host(record: &RunRecord, host: &Host, style: &Style) -> String {
    let mut list = Vec::new();
    let mut push = |name: &str, value: String| {
        if !value.is_empty() {
            list.push((name.to_owned(), value));
        }
    };
    push("name", host.name.clone());
    push("observed host roles", role::of(record, host));
    for (name, words) in host.observed.iter().flat_map(role::observation_facts) {
        push(name, words);
    }
    push("system", [host.kernel.as_str(), host.os.as_str()].join(", ").trim_matches([',', ' ']).to_owned());
    if host.cpus > 0 {
        // A database report states less than the host itself: a value of 0 is unknown.
        let model = if host.cpu_model.is_empty() { String::new() } else { format!(" × {}", host.cpu_model) };
        let allowed = match host.cpus_allowed {
            0 => String::new(),
            all if all == host.cpus => String::new(),
            some => format!(", {some} allowed"),
        };
        let nodes = match host.numa_nodes {
            0 => String::new(),
            1 => ", 1 NUMA node".to_owned(),
            nodes => format!(", {nodes} NUMA nodes"),
        };
        push("processors", format!("{}{model}{allowed}{nodes}", host.cpus));
    }
    if host.memory_bytes > 0 {
        push("memory", bytes(host.memory_bytes));
    }
    for (path, mount) in &host.mounts {
        push(&format!("mount {path}"), mount.clone());
    }
    list.extend(host.facts.iter().map(|(name, value)| (name.clone(), value.clone())));
    pairs(&list, FACTS_MAX, style)
}

pub(super) fn errors(record: &RunRecord, style: &Style) -> String {
    let list: Vec<(String, String)> = record
        .errors
        .iter()
        .map(|tally| {
            let name = format!("{} × {}", count(tally.count), tally.code);
            let also = |words: &str, times: u64| match times {
                0 => String::new(),
                times => format!("; {words}: {}", count(times)),
            };
            let again = also("connections reopened", tally.reconnects)
                + &also("retried attempts in the whole run", tally.retried)
                + &also("commits in doubt", tally.in_doubt);
            (name, format!("{} ({}){again}", tally.message, tally.class))
        })
        .collect();
    pairs(&list, ERRORS_MAX, style)
}
