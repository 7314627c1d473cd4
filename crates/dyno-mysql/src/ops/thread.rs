//! Finds the server's thread for a connection if the server runs on this machine.

use super::super::identity::is_server;
use super::super::wire::{MySqlConnection, MySqlWireError};
use dyno_engine::net::local;

/// Reads the operating system's thread id. It is not read if the server pools threads, because another thread
/// may then serve each request. MySQL shows it in `performance_schema`, MariaDB in the process list.
const MYSQL: &str = "SELECT THREAD_OS_ID FROM performance_schema.threads
     WHERE PROCESSLIST_ID = CONNECTION_ID() AND @@thread_handling = 'one-thread-per-connection'";
const MARIADB: &str = "SELECT TID FROM information_schema.PROCESSLIST
     WHERE ID = CONNECTION_ID() AND @@thread_handling = 'one-thread-per-connection'";

/// The id of the thread; `None` if the server does not report it.
///
/// # Errors
/// The connection was lost.
pub(super) fn ask(connection: &mut MySqlConnection) -> Result<Option<u32>, MySqlWireError> {
    match connection.ask(if connection.is_mariadb() { MARIADB } else { MYSQL }) {
        Ok(rows) => Ok(rows.first().and_then(|row| row.parse(0))),
        Err(MySqlWireError::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The processor on which `thread` last ran; absent if it is not a thread of a local server.
pub(super) fn processor(thread: u32) -> Option<usize> {
    local::last_processor(thread, |line| is_server(&String::from_utf8_lossy(line)))
}
