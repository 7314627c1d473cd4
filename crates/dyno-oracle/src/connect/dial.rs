//! Opens one connection within a time limit.
//!
//! The driver only limits the wait for TCP. A listener that accepts the connection and never sends anything
//! would block it for ever, and another protocol makes the driver panic. So a separate thread opens each
//! connection. At the time limit Dyno leaves the thread behind; it ends when the other side closes, or with
//! the process.

use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, channel};

use oracledb::{Config, Connection};

use super::config::OracleConnectConfig;
use super::explain;
use crate::driver_panics::catch_driver_panic;
use dyno_engine::TargetError;

/// The name of the threads that open connections.
const THREAD: &str = "dyno-oracle-dial";

/// Statements whose cursors one connection caches: more than any connection of Dyno uses.
const CURSORS: usize = 64;

/// Opens a connection that is ready for statements; `action` is shown in V$SESSION next to the module `dyno`.
pub(crate) fn dial(config: &OracleConnectConfig, action: &str) -> Result<Connection, TargetError> {
    let driver = driver_config(config)?;
    prepare_process();
    let (send, answer) = channel();
    let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
        // If the receiver has given up, dropping the result closes the connection.
        let _ = send.send(catch_driver_panic(|| oracledb::connect(driver)));
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
fn driver_config(config: &OracleConnectConfig) -> Result<Config, TargetError> {
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

/// Initializes once per process what the driver needs: the cryptography provider for TLS.
fn prepare_process() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A provider that was installed before remains in use.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    });
}
