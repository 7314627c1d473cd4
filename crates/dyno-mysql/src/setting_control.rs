//! Changes settings of the running server by `SET GLOBAL`. A restart of the server undoes every change.

use dyno_engine::{
    ConnectionPurpose, ServerSetting, SettingActivation, SettingControl, TargetError, is_setting_name,
    unknown_setting,
};
use dyno_plan::Bytes;

use super::connections::{MySqlConnections, SESSION_SETTINGS};
use super::identity::shown;
use dyno_engine::grants::literal;

/// The settings of one server.
#[derive(Debug)]
pub(super) struct MySqlSettingControl(pub(super) MySqlConnections);

impl SettingControl for MySqlSettingControl {
    fn read(&self, name: &str) -> Result<ServerSetting, TargetError> {
        if !is_setting_name(name) {
            return Err(unknown_setting(name));
        }
        let name = name.to_ascii_lowercase();
        let query = format!("SHOW GLOBAL VARIABLES WHERE Variable_name = '{name}'");
        let read_only = format!(
            "SELECT READ_ONLY FROM information_schema.SYSTEM_VARIABLES WHERE LOWER(VARIABLE_NAME) = '{name}'"
        );
        let (rows, is_fixed) = self.0.ask_for(ConnectionPurpose::Check, |connection| {
            let rows = connection.simple(&query)?;
            // MySQL does not say which of its variables are dynamic; it refuses the change.
            let is_fixed = connection.is_mariadb()
                && connection.simple(&read_only)?.first().and_then(|row| row.get(0)) == Some("YES");
            Ok((rows, is_fixed))
        })?;
        let Some(row) = rows.first() else { return Err(unknown_setting(&name)) };
        let value = row.get(1).unwrap_or_default().to_owned();
        if shown(&name, &value) != value {
            return Err(TargetError::unsupported(format!(
                "the value of {name} is secret, so Dyno does not change it"
            ))
            .hint("use a study"));
        }
        if is_fixed {
            return Err(TargetError::unsupported(format!("{name} cannot be changed while the server runs"))
                .hint("use a study, whose commands change the server's option file and restart it"));
        }
        Ok(ServerSetting { name, value, stored: None, activation: SettingActivation::Running })
    }

    fn change(&self, setting: &ServerSetting, value: &str) -> Vec<String> {
        vec![format!("SET GLOBAL {} = {}", setting.name, written(&setting.value, value))]
    }

    fn undo(&self, before: &ServerSetting) -> Vec<String> {
        self.change(before, &before.value)
    }

    fn set_by_sessions(&self) -> Vec<&'static str> {
        SESSION_SETTINGS.iter().map(|setting| setting.name).collect()
    }
}

/// The value in a statement. `SET` knows no units, so that of a size becomes bytes.
fn written(present: &str, value: &str) -> String {
    if value.parse::<f64>().is_ok_and(f64::is_finite) {
        return value.to_owned();
    }
    match value.parse::<Bytes>() {
        Ok(Bytes(bytes)) if present.parse::<u64>().is_ok() => bytes.to_string(),
        _ => literal(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_numbers_or_quoted() {
        assert_eq!(written("134217728", "256M"), "268435456");
        assert_eq!(written("1", "0"), "0");
        assert_eq!(written("ON", "OFF"), "'OFF'");
        assert_eq!(written("O_DIRECT", "x', y"), "'x'', y'");
    }
}
