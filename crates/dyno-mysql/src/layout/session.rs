//! Explains errors of loading and dropping to the user.

use super::super::connect::MySqlConnectConfig;
use super::super::connections::MySqlConnections;
use super::super::wire::MySqlError;
use crate::grants::MySqlGrants;
use dyno_engine::{Refusal as _, TargetError, TargetErrorKind};

/// A load that uses connections of this engine.
pub(super) type MySqlLoadContext<'a> = dyno_engine::layout::ParallelLoad<'a, MySqlConnections>;

/// Adds the failed action and a hint to an error of the server.
pub(super) fn explain(error: TargetError, doing: &str, config: &MySqlConnectConfig) -> TargetError {
    let Some(number) = MySqlError::of(&error).map(|server| server.number) else { return error };
    let hint = match number {
        _ if error.kind == TargetErrorKind::Privilege => {
            MySqlGrants::new(&config.user, &config.database).load()
        }
        _ if error.kind == TargetErrorKind::Full => {
            "free space on the server's disk, or load less data; then load again to resume, or drop"
                .to_owned()
        }
        // The server is read-only, by setting or as a replica.
        1290 | 1836 => "load on the primary: this server is read-only".to_owned(),
        // A table or a routine already exists.
        1050 | 1304 => {
            "an object of that name exists that Dyno did not create: rename it or move it to another database"
                .to_owned()
        }
        _ => error.hint.clone(),
    };
    error.during(doing).hint(hint)
}

/// Like [`explain`], for errors while reading what is loaded, which needs fewer privileges than a load.
pub(crate) fn explain_inspection(error: TargetError, config: &MySqlConnectConfig) -> TargetError {
    let explained = explain(error, "the loaded data cannot be read", config);
    if explained.kind != TargetErrorKind::Privilege {
        return explained;
    }
    explained.hint(MySqlGrants::new(&config.user, &config.database).run())
}
