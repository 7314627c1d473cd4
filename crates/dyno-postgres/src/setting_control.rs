//! Changes settings of the server by `ALTER SYSTEM`, which writes them to `postgresql.auto.conf`.

use dyno_engine::{
    ConnectionPurpose, ServerSetting, SettingActivation, SettingControl, TargetError, TargetErrorKind, Value,
    is_setting_name, unknown_setting,
};

use super::connections::{PostgresConnections, SESSION_SETTINGS};
use super::identity::shown;
use super::ops::literal;

/// Settings whose value is a list of quoted names, which one literal cannot hold.
const LISTS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// What a user needs who may not read or change the settings of the server.
const SUPERUSER: &str = "the user must be allowed to read pg_file_settings and to execute ALTER SYSTEM, as superusers are: name one in --target for this test";

const RELOAD: &str = "SELECT pg_reload_conf()";

/// The settings of one server.
#[derive(Debug)]
pub(super) struct PostgresSettingControl(pub(super) PostgresConnections);

impl SettingControl for PostgresSettingControl {
    fn read(&self, name: &str) -> Result<ServerSetting, TargetError> {
        if !is_setting_name(name) {
            return Err(unknown_setting(name));
        }
        let name = name.to_ascii_lowercase();
        let query = format!(
            "SELECT name, pg_catalog.current_setting(name), context, source FROM pg_catalog.pg_settings \
             WHERE pg_catalog.lower(name) = '{name}'"
        );
        // Only a superuser, or a member of a role that may read all settings, sees the file.
        let stored = format!(
            "SELECT setting FROM pg_catalog.pg_file_settings WHERE pg_catalog.lower(name) = '{name}' \
             AND sourcefile LIKE '%postgresql.auto.conf' ORDER BY seqno DESC LIMIT 1"
        );
        let answer = self.0.ask_for(ConnectionPurpose::Script, |connection| {
            let rows = connection.simple(&query)?;
            let stored = if rows.is_empty() { Vec::new() } else { connection.simple(&stored)? };
            Ok((rows, stored))
        });
        let (rows, stored_rows) = answer.map_err(|error| match error.kind {
            TargetErrorKind::Privilege => error.hint(SUPERUSER),
            _ => error,
        })?;
        let Some(row) = rows.first() else { return Err(unknown_setting(&name)) };
        let text = |column| row.get(column).unwrap_or_default();
        let setting = ServerSetting {
            name: text(0).to_owned(),
            value: text(1).to_owned(),
            stored: stored_rows.first().and_then(|row| row.get(0)).map(str::to_owned),
            activation: match text(2) {
                "postmaster" => SettingActivation::Restart,
                _ => SettingActivation::Running,
            },
        };
        match refusal(&setting, text(2), text(3)) {
            Some((problem, hint)) => Err(TargetError::unsupported(problem).hint(hint)),
            None => Ok(setting),
        }
    }

    fn change(&self, setting: &ServerSetting, value: &str) -> Vec<String> {
        let value = literal(Value::Text(value.as_bytes()));
        vec![format!("ALTER SYSTEM SET {} = {value}", setting.name), RELOAD.to_owned()]
    }

    fn undo(&self, before: &ServerSetting) -> Vec<String> {
        match &before.stored {
            Some(stored) => self.change(before, stored),
            None => vec![format!("ALTER SYSTEM RESET {}", before.name), RELOAD.to_owned()],
        }
    }

    fn set_by_sessions(&self) -> Vec<&'static str> {
        SESSION_SETTINGS.iter().map(|setting| setting.name).collect()
    }
}

/// Why an A/B test cannot change the setting, and what to do instead.
fn refusal(setting: &ServerSetting, context: &str, source: &str) -> Option<(String, &'static str)> {
    let name = &setting.name;
    let is_secret = |value: &str| shown(name, value) != value;
    if is_secret(&setting.value) || setting.stored.as_deref().is_some_and(is_secret) {
        return Some((format!("the value of {name} is secret, so Dyno does not change it"), "use a study"));
    }
    if context == "internal" {
        return Some((format!("{name} is fixed when the server is built or created"), "compare two servers"));
    }
    if LISTS.contains(&name.as_str()) {
        return Some((format!("{name} is a list of names, which Dyno does not change"), "use a study"));
    }
    let owner = match source {
        "session" | "client" => "Dyno's own connections",
        "command line" => "the command line of the server",
        "environment variable" => "the environment of the server",
        "database" | "user" | "database user" => "the database or the role of the target",
        _ => return None,
    };
    Some((
        format!("{name} is set by {owner}, so the server's configuration has no effect on sessions"),
        "change it there; a plan file for each side may name two roles or databases",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, value: &str, stored: Option<&str>) -> ServerSetting {
        ServerSetting {
            name: name.to_owned(),
            value: value.to_owned(),
            stored: stored.map(str::to_owned),
            activation: SettingActivation::Running,
        }
    }

    #[test]
    fn settings_that_would_not_reach_sessions_are_refused() {
        let plain = setting("work_mem", "4MB", None);
        for source in ["default", "configuration file", "override"] {
            assert_eq!(refusal(&plain, "user", source), None, "{source}");
        }
        let refused = |setting: &ServerSetting, context, source| refusal(setting, context, source).unwrap().0;
        assert!(refused(&plain, "user", "user").contains("role of the target"));
        assert!(refused(&setting("block_size", "8192", None), "internal", "default").contains("fixed"));
        let secret = setting("primary_conninfo", "host=a password=b", None);
        let words = refused(&secret, "sighup", "configuration file");
        assert!(words.contains("secret"), "{words}");
        assert!(!words.contains("password=b"), "{words}");
        assert!(refused(&setting("search_path", "a", None), "user", "default").contains("list"));
    }
}
