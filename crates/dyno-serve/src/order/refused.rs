//! Refuses values that pages may not set.

use super::{FieldError, JobRequest, field_error};
use crate::allowed;
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

    /// Returns the problems of values of all kinds of jobs that are invalid, or that pages may not set.
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
