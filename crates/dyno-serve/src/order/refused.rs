//! Refuses values that pages may not set.

use std::str::FromStr as _;

use super::{FieldError, JobRequest, PARTS, field_error};
use crate::allowed;
use crate::jobs::JobKind;
use crate::setup::Setup;

/// Maximum number of keys in a request. A plan has fewer keys, and each unknown key costs a search for
/// similar names.
const SETTINGS_MAX: usize = 200;

impl JobRequest {
    pub(super) fn no_target(&self, setup: &Setup) -> FieldError {
        let names: Vec<&str> = setup.targets.all().map(|(name, _)| name).collect();
        let hint = if names.is_empty() {
            "start the server with --targets FILE or --target URL".to_owned()
        } else {
            format!("available: {}", names.join(", "))
        };
        field_error("target", "no target of that name is in the server's list", hint)
    }

    /// Returns the problems of values that are invalid, or that pages may not set.
    pub(super) fn refused(&self, setup: &Setup) -> Vec<FieldError> {
        let mut problems: Vec<FieldError> = Vec::new();
        if self.set.len() > SETTINGS_MAX {
            return vec![field_error(
                "",
                format!("{} settings", self.set.len()),
                format!("at most {SETTINGS_MAX}"),
            )];
        }
        for (key, value) in &self.set {
            if allowed::is_listed_host(key) {
                problems.extend(unknown_hosts(setup, key, value));
                continue;
            }
            problems.extend(
                allowed::refusal(key, value, setup.allow_commands).map(|why| field_error(key, why, "")),
            );
        }
        if !self.workload.is_empty() && !setup.workloads.iter().any(|known| known.name == self.workload) {
            problems.push(field_error("workload", "unknown ready workload", ""));
        }
        for (name, mark) in
            std::iter::once(("variant", &self.variant)).chain(self.tags.iter().map(|tag| ("tags", tag)))
        {
            if mark.contains(',') || mark.chars().any(char::is_control) || mark.chars().count() > 100 {
                problems.push(field_error(name, "not a name", "up to 100 characters and no comma"));
            }
        }
        match self.kind {
            JobKind::Search if self.limits.is_empty() => {
                problems.push(field_error("limits", "a search needs a limit", "write p99 <= 2ms"));
            }
            JobKind::Search => {
                for limit in &self.limits {
                    let read = dyno_analyze::Limit::from_str(limit);
                    problems.extend(
                        read.err().map(|error| field_error("limits", error.to_string(), "write p99 <= 2ms")),
                    );
                }
                if !matches!(self.over.as_str(), "sessions" | "rate") {
                    problems.push(field_error("over", "a search cannot raise this", "sessions or rate"));
                }
                if !self.max.is_empty() && !self.max.parse::<f64>().is_ok_and(|max| max >= 1.0) {
                    problems.push(field_error(
                        "max",
                        "not a number from 1",
                        "sessions per schema, or operations per second",
                    ));
                }
            }
            JobKind::Suite => {
                let is_name = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
                for (field, names) in [("groups", &self.groups), ("tests", &self.tests)] {
                    let hint = "`dyno suite list` shows the names";
                    problems.extend(
                        names
                            .iter()
                            .filter(|name| !is_name(name))
                            .map(|name| field_error(field, format!("{name:?} is not a name"), hint)),
                    );
                }
            }
            JobKind::Soak if dyno_plan::TimeSpan::from_str(&self.time).is_err() => {
                problems.push(field_error("time", "not a duration", "write 8h, 20m or 90s"));
            }
            JobKind::Watch if dyno_plan::TimeSpan::from_str(&self.watch_for).is_err() => {
                problems.push(field_error("watch_for", "not a duration", "write 8h, 20m or 90s"));
            }
            JobKind::Calibrate => {
                let unknown = self.parts.iter().filter(|part| !PARTS.contains(&part.as_str()));
                problems.extend(
                    unknown.map(|part| {
                        field_error("parts", format!("{part:?} is not a part"), PARTS.join(", "))
                    }),
                );
            }
            JobKind::Prove => problems.extend(self.refused_proof(setup.allow_commands)),
            JobKind::Study => problems.extend(self.refused_study(setup.allow_commands)),
            JobKind::Ab => {
                for (name, side) in [("a", &self.a), ("b", &self.b)] {
                    problems.extend(refused_side(name, side, setup.allow_commands));
                }
                if !(1..=1_000).contains(&self.pairs) {
                    problems.push(field_error("pairs", "out of range", "1 to 1,000"));
                }
            }
            _ => {}
        }
        problems
    }
}

/// Returns a problem if a host is not in the server's list.
fn unknown_hosts(setup: &Setup, key: &str, names: &str) -> Option<FieldError> {
    let unknown = names.split(',').map(str::trim).find(|name| setup.targets.host(name).is_none())?;
    let listed: Vec<&str> = setup.targets.hosts().map(|(name, _)| name).collect();
    let hint = match listed.is_empty() {
        true => "list hosts in the file of --targets: [hosts.NAME] with url = \"ssh://…\"".to_owned(),
        false => format!("listed: {}", listed.join(", ")),
    };
    Some(field_error(key, format!("no host {unknown:?} is in the server's list"), hint))
}

/// Sides of an A/B test must consist of settings, because a name of a file would be opened.
fn refused_side(name: &str, side: &str, allow_commands: bool) -> Option<FieldError> {
    let is_file = std::path::Path::new(side).extension().is_some_and(|ending| ending == "toml");
    if is_file {
        return Some(field_error(
            name,
            "a page cannot name a file of the server",
            "write KEY=VALUE[,KEY=VALUE…]",
        ));
    }
    side.split(',').map(str::trim).filter(|pair| !pair.is_empty()).find_map(|pair| {
        let Some((key, value)) = pair.split_once('=') else {
            return Some(field_error(
                name,
                format!("{pair:?} is not a setting"),
                "write KEY=VALUE[,KEY=VALUE…]",
            ));
        };
        allowed::refusal(key, value, allow_commands).map(|why| field_error(name, format!("{key}: {why}"), ""))
    })
}
