//! Changing settings of a server: what a setting is now, and the statements that change and undo it.

use serde::{Deserialize, Serialize};

use crate::error::TargetError;

/// A setting of a server, as it is before a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSetting {
    /// The name as the server spells it.
    pub name: String,
    /// The value in force for new connections, in the server's own words.
    pub value: String,
    /// The value in the file that the server writes itself where statements change settings; absent where
    /// that file has none.
    pub stored: Option<String>,
    /// When a change takes effect.
    pub activation: SettingActivation,
}

/// When a changed setting takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingActivation {
    /// For connections that begin after the change.
    Running,
    /// When the server starts again.
    Restart,
}

/// A target whose server's settings can be changed by statements.
pub trait SettingControl: Send + Sync {
    /// Reads the setting `name`, of which only letters, digits, `_` and `.` are accepted.
    ///
    /// # Errors
    /// There is no such setting, statements cannot change it, its value is secret, or a change would not
    /// reach sessions, with a hint. Or the target cannot be reached.
    fn read(&self, name: &str) -> Result<ServerSetting, TargetError>;

    /// The statements that give the setting this value, for all connections that begin later.
    fn change(&self, setting: &ServerSetting, value: &str) -> Vec<String>;

    /// The statements that undo every change since the setting was read as `before`.
    fn undo(&self, before: &ServerSetting) -> Vec<String>;

    /// Settings that sessions of the block workload make themselves, so that the server's values have no
    /// effect on them.
    fn set_by_sessions(&self) -> Vec<&'static str>;
}

/// Whether `name` can be the name of a setting, and is safe in a statement.
pub fn is_setting_name(name: &str) -> bool {
    const CHARS_MAX: usize = 100;
    let is_plain = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_' || symbol == '.';
    !name.is_empty() && name.len() <= CHARS_MAX && name.chars().all(is_plain)
}

/// The error for a setting that the server does not have.
pub fn unknown_setting(name: &str) -> TargetError {
    let shown: String = name.chars().take(100).collect();
    TargetError::unsupported(format!("the server has no setting {shown:?}"))
        .hint("write the name as the server lists it; plan keys go into --a and --b")
}
