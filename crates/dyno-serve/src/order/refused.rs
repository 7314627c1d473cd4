//! What no page may ask for.

use std::str::FromStr as _;

use super::{Order, PARTS, Wrong, wrong};
use crate::allowed;
use crate::jobs::Kind;
use crate::setup::Setup;

/// Settings that an order may have: a plan has fewer keys, and each unknown one costs a search for what was meant.
const SETTINGS_MAX: usize = 200;

impl Order {
    pub(super) fn no_target(&self, setup: &Setup) -> Wrong {
        let names: Vec<&str> = setup.targets.all().map(|(name, _)| name).collect();
        let hint = if names.is_empty() {
            "start the server with --targets FILE or --target URL".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        wrong("target", "no target of that name is in the server's list", hint)
    }

    /// What no page may ask for, and what is no such value at all.
    pub(super) fn refused(&self, setup: &Setup) -> Vec<Wrong> {
        let mut found: Vec<Wrong> = Vec::new();
        if self.set.len() > SETTINGS_MAX {
            return vec![wrong(
                "",
                format!("{} settings", self.set.len()),
                format!("at most {SETTINGS_MAX}"),
            )];
        }
        for (key, value) in &self.set {
            if allowed::is_listed_host(key) {
                found.extend(unknown_hosts(setup, key, value));
                continue;
            }
            found.extend(allowed::refusal(key, value, setup.allow_commands).map(|why| wrong(key, why, "")));
        }
        if !self.workload.is_empty() && !setup.workloads.iter().any(|known| known.name == self.workload) {
            found.push(wrong("workload", "there is no such ready workload", ""));
        }
        for (name, mark) in
            std::iter::once(("variant", &self.variant)).chain(self.tags.iter().map(|tag| ("tags", tag)))
        {
            if mark.contains(',') || mark.chars().any(char::is_control) || mark.chars().count() > 100 {
                found.push(wrong(name, "not a name", "up to 100 characters and no comma"));
            }
        }
        match self.kind {
            Kind::Search if self.limits.is_empty() => {
                found.push(wrong("limits", "a search needs a limit", "write p99 <= 2ms"));
            }
            Kind::Search => {
                for limit in &self.limits {
                    let read = dyno_analyze::Limit::from_str(limit);
                    found.extend(
                        read.err().map(|error| wrong("limits", error.to_string(), "write p99 <= 2ms")),
                    );
                }
                if !matches!(self.over.as_str(), "sessions" | "rate") {
                    found.push(wrong("over", "nothing of that name rises", "sessions or rate"));
                }
                if !self.max.is_empty() && !self.max.parse::<f64>().is_ok_and(|max| max >= 1.0) {
                    found.push(wrong(
                        "max",
                        "not a number from 1",
                        "sessions per schema, or operations per second",
                    ));
                }
            }
            Kind::Suite => {
                let is_name = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
                for (field, names) in [("groups", &self.groups), ("tests", &self.tests)] {
                    let hint = "`dyno suite list` shows them";
                    found.extend(
                        names
                            .iter()
                            .filter(|name| !is_name(name))
                            .map(|name| wrong(field, format!("{name:?} is none"), hint)),
                    );
                }
            }
            Kind::Soak if dyno_plan::Span::from_str(&self.time).is_err() => {
                found.push(wrong("time", "not a duration", "write 8h, 20m or 90s"));
            }
            Kind::Watch if dyno_plan::Span::from_str(&self.watch_for).is_err() => {
                found.push(wrong("watch_for", "not a duration", "write 8h, 20m or 90s"));
            }
            Kind::Calibrate => {
                let unknown = self.parts.iter().filter(|part| !PARTS.contains(&part.as_str()));
                found.extend(
                    unknown.map(|part| wrong("parts", format!("{part:?} is none"), PARTS.join(", "))),
                );
            }
            Kind::Prove => found.extend(self.refused_proof(setup.allow_commands)),
            Kind::Study => found.extend(self.refused_study(setup.allow_commands)),
            Kind::Ab => {
                for (name, side) in [("a", &self.a), ("b", &self.b)] {
                    found.extend(refused_side(name, side, setup.allow_commands));
                }
                if !(1..=1_000).contains(&self.pairs) {
                    found.push(wrong("pairs", "out of range", "1 to 1,000"));
                }
            }
            _ => {}
        }
        found
    }
}

/// Hosts that are not in the server's list.
fn unknown_hosts(setup: &Setup, key: &str, names: &str) -> Option<Wrong> {
    let unknown = names.split(',').map(str::trim).find(|name| setup.targets.host(name).is_none())?;
    let listed: Vec<&str> = setup.targets.hosts().map(|(name, _)| name).collect();
    let hint = match listed.is_empty() {
        true => "list hosts in the file of --targets: [hosts.NAME] with url = \"ssh://…\"".to_owned(),
        false => format!("listed: {}", listed.join(", ")),
    };
    Some(wrong(key, format!("no host {unknown:?} is in the server's list"), hint))
}

/// A side of a comparison is settings only: what looks like a file would be opened.
fn refused_side(name: &str, side: &str, allow_commands: bool) -> Option<Wrong> {
    let is_file = std::path::Path::new(side).extension().is_some_and(|ending| ending == "toml");
    if is_file {
        return Some(wrong(name, "a page names no file of the server", "write KEY=VALUE[,KEY=VALUE…]"));
    }
    side.split(',').map(str::trim).filter(|pair| !pair.is_empty()).find_map(|pair| {
        let Some((key, value)) = pair.split_once('=') else {
            return Some(wrong(name, format!("{pair:?} is no setting"), "write KEY=VALUE[,KEY=VALUE…]"));
        };
        allowed::refusal(key, value, allow_commands).map(|why| wrong(name, format!("{key}: {why}"), ""))
    })
}
