//! How much a transaction sees of others, as users write it.

use dyno_engine::Isolation;

use super::fault::Fault;
use super::names::shown;
use super::table::Item;

/// The isolation that `item` names.
pub(super) fn isolation(item: &Item<'_>) -> Result<Isolation, Fault> {
    let text = item.text("\"serializable\"")?;
    match &*text.letters {
        "platform" => Ok(Isolation::Platform),
        "read committed" => Ok(Isolation::ReadCommitted),
        "repeatable read" => Ok(Isolation::RepeatableRead),
        "serializable" => Ok(Isolation::Serializable),
        other => {
            let hint = "platform, read committed, repeatable read or serializable";
            Err(item.fault(format!("{:?} is no isolation", shown(other)), hint))
        }
    }
}
