//! Explains a call that exceeded its limit: the driver makes the server cancel it, and Dyno checks whether
//! the server did.

use dyno_engine::OpError;

use crate::connect::OracleConnectConfig;
use crate::connection::{OracleConnection, TextRow};
use crate::sql;

/// The session id and serial number in `V$SESSION`.
pub(super) type SessionKey = (usize, usize);

/// Adds to the `error` of an interrupted call what `V$SESSION` shows of its session, on a new connection.
#[cold]
pub(super) fn explain(
    mut error: Box<OpError>,
    config: &OracleConnectConfig,
    session: SessionKey,
) -> Box<OpError> {
    let shown = read_session_state(config, session)
        .unwrap_or_else(|reason| format!("V$SESSION could not be read: {reason}"));
    let (sid, serial) = session;
    error.message = format!("{}; session {sid},{serial}: {shown}", error.message);
    error
}

fn read_session_state(config: &OracleConnectConfig, (sid, serial): SessionKey) -> Result<String, String> {
    let connection = OracleConnection::open(config, "look").map_err(|error| error.message)?;
    let binds: [(&str, &dyn oracledb::ToDbValue); 2] =
        [("sid", &(sid as i64)), ("serial_no", &(serial as i64))];
    let rows = connection.rows(&sql::BROKEN_CALL.text(), &binds);
    connection.close();
    Ok(rows.map_err(|error| error.message)?.first().map_or_else(|| GONE.to_owned(), describe_session))
}

/// The text if no row has these numbers; on RAC another instance may have answered.
const GONE: &str = "V$SESSION of the instance that answered does not show it";

fn describe_session(row: &TextRow) -> String {
    let column = |index| row.get(index).map(str::to_owned);
    let status = column(0).unwrap_or_else(|| "in no state".to_owned());
    let event = column(1).map_or(String::new(), |event| format!(", waits for {event}"));
    let blocker = column(2).map_or(String::new(), |blocker| format!(", blocked by session {blocker}"));
    format!("V$SESSION shows it {status}{event}{blocker}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_call_description_names_wait_and_blocker() {
        let row = |cells: [Option<&str>; 3]| TextRow(cells.map(|cell| cell.map(str::to_owned)).to_vec());
        assert_eq!(describe_session(&row([Some("INACTIVE"), None, None])), "V$SESSION shows it INACTIVE");
        assert_eq!(
            describe_session(&row([Some("ACTIVE"), Some("enq: TX - row lock contention"), Some("12")])),
            "V$SESSION shows it ACTIVE, waits for enq: TX - row lock contention, blocked by session 12"
        );
    }
}
