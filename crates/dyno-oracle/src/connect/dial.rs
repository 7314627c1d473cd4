//! Opening one connection within a limit.
//!
//! The driver limits only the wait for TCP: a listener that takes the connection and never speaks would hold it for ever, and
//! one that speaks something else makes the driver panic. So a connection is opened on a thread of its own, which is left
//! behind where the limit is reached: it ends when the other side closes, or with the process.

use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, channel};

use oracledb::{Config, Connection};

use super::config::ConnectConfig;
use super::explain;
use crate::shelter::caught;
use dyno_engine::TargetError;

/// The name of the threads that open connections.
const THREAD: &str = "dyno-oracle-dial";

/// Statements whose cursors one connection keeps: more than any of ours has.
const CURSORS: usize = 64;

/// A connection that is ready for statements; `action` is what it is seen as in V$SESSION, beside the module `dyno`.
pub(crate) fn dial(config: &ConnectConfig, action: &str) -> Result<Connection, TargetError> {
    let driver = driver_config(config)?;
    prepare_process();
    let (send, answer) = channel();
    let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
        // Where nobody waits any more, the connection is closed again.
        let _ = send.send(caught(|| oracledb::connect(driver)));
    });
    thread.map_err(|error| {
        TargetError::unreachable(format!("no thread could be started to connect: {error}"))
            .hint("a higher limit of processes (`ulimit -u`)")
    })?;
    let connection = match answer.recv_timeout(config.connect_timeout) {
        Ok(Ok(Ok(connection))) => connection,
        Ok(Ok(Err(error))) => return Err(explain::refused(&error, config)),
        Ok(Err(panic)) => return Err(explain::panicked(&panic, config)),
        Err(RecvTimeoutError::Timeout) => return Err(explain::too_late(config)),
        Err(RecvTimeoutError::Disconnected) => return Err(explain::no_oracle(config)),
    };
    let named = connection
        .set_module("dyno")
        .and_then(|()| connection.set_action(action))
        .and_then(|()| connection.set_call_timeout(config.call_timeout));
    named.map_err(|error| explain::refused(&error, config))?;
    Ok(connection)
}

/// The driver's settings for `config`.
fn driver_config(config: &ConnectConfig) -> Result<Config, TargetError> {
    let Some(password) = &config.password else {
        return Err(explain::no_password(config));
    };
    let mut driver = Config::default()
        .set_credentials(&config.user, password.expose())
        .set_stmtcachesize(CURSORS)
        .set_transport_connect_timeout(Some(config.connect_timeout));
    if let Some(folder) = &config.tns_admin {
        driver = driver.set_config_dir(&folder.to_string_lossy());
    }
    if let Some(folder) = &config.wallet {
        driver = driver.set_wallet_location(folder.to_string_lossy().into_owned());
    }
    if let Some(password) = &config.wallet_password {
        driver = driver.set_wallet_password(password.expose());
    }
    driver.set_connect_string(&config.connect_string()).map_err(|error| explain::refused(&error, config))
}

/// What the driver needs of the process, once: the provider of cryptography for TLS.
fn prepare_process() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Someone who has chosen one already has chosen well.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    });
}
