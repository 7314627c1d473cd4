//! Reads the isolation level of a transaction.

use dyno_engine::Isolation;

use super::fault::WorkloadError;
use super::names::shown;
use super::table::TomlItem;

/// The isolation level in `item`.
pub(super) fn isolation(item: &TomlItem<'_>) -> Result<Isolation, WorkloadError> {
    let text = item.text("\"serializable\"")?;
    match &*text.letters {
        "platform" => Ok(Isolation::Platform),
        "read committed" => Ok(Isolation::ReadCommitted),
        "repeatable read" => Ok(Isolation::RepeatableRead),
        "serializable" => Ok(Isolation::Serializable),
        other => {
            let hint = "platform, read committed, repeatable read or serializable";
            Err(item.fault(format!("{:?} is not an isolation level", shown(other)), hint))
        }
    }
}
