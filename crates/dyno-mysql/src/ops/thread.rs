//! The server's thread that works for a connection, where the server runs on this machine.

use super::super::identity::is_server;
use super::super::wire::{Connection, WireError};
use dyno_engine::net::local;

/// Asks for the number that the operating system knows the thread by. Without it where threads are pooled: then another one
/// works for the connection each time. MySQL tells it by `performance_schema`, MariaDB by the process list.
const MYSQL: &str = "SELECT THREAD_OS_ID FROM performance_schema.threads
     WHERE PROCESSLIST_ID = CONNECTION_ID() AND @@thread_handling = 'one-thread-per-connection'";
const MARIADB: &str = "SELECT TID FROM information_schema.PROCESSLIST
     WHERE ID = CONNECTION_ID() AND @@thread_handling = 'one-thread-per-connection'";

/// The number of the thread; `None` where the server does not tell it.
///
/// # Errors
/// The connection is lost.
pub(super) fn ask(connection: &mut Connection) -> Result<Option<u32>, WireError> {
    match connection.ask(if connection.is_mariadb() { MARIADB } else { MYSQL }) {
        Ok(rows) => Ok(rows.first().and_then(|row| row.parse(0))),
        Err(WireError::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The processor on which `thread` last ran, if it is a server's and here.
pub(super) fn processor(thread: u32) -> Option<usize> {
    local::last_processor(thread, |line| is_server(&String::from_utf8_lossy(line)))
}
