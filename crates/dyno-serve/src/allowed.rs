//! What a page may not ask for, whoever sends it: files of the server, other databases, commands.
//!
//! Looked at before anything is read, for some values name files that reading a plan opens.

use dyno_plan::{Plan, keys};

/// Why a key is not for a page; nothing where it is. `key` may be an axis of a sweep, with or without its section.
pub(crate) fn refusal(key: &str, value: &str, allow_commands: bool) -> Option<&'static str> {
    let bare = key.trim().trim_start_matches("sweep.").trim_matches('"').trim();
    let name = bare.rsplit('.').next().unwrap_or_default().trim_matches('"');
    let is_of = |section: &str| {
        bare.split('.').next() == Some(section)
            || keys::all().any(|known| known.section() == section && known.name() == name)
    };
    if is_of("target") {
        return Some("targets are named in the server's own list, and never by a page");
    }
    if is_of("hooks") && !allow_commands {
        return Some("commands run only if the server was started with --allow-commands");
    }
    if matches!(name, "folder" | "beside") {
        return Some("a page names a ready workload, and no folder of the server");
    }
    if name == "phases" && value.contains("csv") {
        return Some("a page names no file of the server: write the phases themselves");
    }
    if key.chars().chain(value.chars()).any(char::is_control) {
        return Some("it has characters that no value has");
    }
    None
}

/// The same of a plan as it was read: nothing got past.
pub(crate) fn of_plan(plan: &Plan, allow_commands: bool) -> Option<&'static str> {
    let hooks = &plan.hooks;
    let commands = [&hooks.before_run, &hooks.pre, &hooks.post, &hooks.after_run, &hooks.end];
    if !allow_commands && commands.iter().any(|command| command.is_some()) {
        return Some("commands run only if the server was started with --allow-commands");
    }
    let axes = plan.sweep.axes.iter();
    axes.flat_map(|axis| axis.values.iter().map(|value| (axis.key.as_str(), value.as_str())))
        .find_map(|(key, value)| refusal(key, value, allow_commands))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_that_names_a_file_a_database_or_a_command_is_for_a_page() {
        for key in keys::all() {
            let is_file = matches!(key.kind, keys::Kind::File(_) | keys::Kind::Folders(_));
            let is_place =
                matches!(key.kind, keys::Kind::Url(_) | keys::Kind::Urls(_) | keys::Kind::Variable(_));
            let is_command = matches!(key.kind, keys::Kind::Command(_));
            if is_file || is_place || is_command {
                for spelled in
                    [key.path.to_owned(), format!("sweep.{}", key.name()), format!("sweep.\"{}\"", key.path)]
                {
                    assert!(refusal(&spelled, "x", false).is_some(), "{spelled}");
                }
                assert_eq!(refusal(key.path, "x", true).is_some(), !is_command, "{}", key.path);
            }
        }
    }

    #[test]
    fn no_file_gets_in_by_a_value() {
        for key in ["workload.phases", "sweep.phases", "sweep.\"workload.phases\""] {
            assert!(refusal(key, "csv /etc/passwd", true).is_some(), "{key}");
        }
        assert!(refusal("run.time", "5s\n[hooks]\npre = 'x'", true).is_some());
        assert!(refusal("workload.phases", "hold 5/s 9s", false).is_none());
        assert!(
            refusal("run.time", "5s", false).is_none() && refusal("sweep.sessions", "1,2", false).is_none()
        );
    }
}
