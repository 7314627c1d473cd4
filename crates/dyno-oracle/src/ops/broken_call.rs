//! A call that took longer than its limit: the driver has the server cancel it, and Dyno looks whether the server did.

use dyno_engine::OpError;

use crate::connect::ConnectConfig;
use crate::connection::{Connection, Row};
use crate::sql;

/// The number and the serial number by which `V$SESSION` knows a session.
pub(super) type SessionKey = (usize, usize);

/// `error` of a call that was broken off, with what `V$SESSION` shows of its session. For that a connection is opened.
#[cold]
pub(super) fn explain(mut error: Box<OpError>, config: &ConnectConfig, session: SessionKey) -> Box<OpError> {
    let shown =
        look(config, session).unwrap_or_else(|reason| format!("V$SESSION could not be read: {reason}"));
    let (sid, serial) = session;
    error.message = format!("{}; session {sid},{serial}: {shown}", error.message);
    error
}

fn look(config: &ConnectConfig, (sid, serial): SessionKey) -> Result<String, String> {
    let connection = Connection::open(config, "look").map_err(|error| error.message)?;
    let binds: [(&str, &dyn oracledb::ToDbValue); 2] =
        [("sid", &(sid as i64)), ("serial_no", &(serial as i64))];
    let rows = connection.rows(&sql::BROKEN_CALL.text(), &binds);
    connection.close();
    Ok(rows.map_err(|error| error.message)?.first().map_or_else(|| GONE.to_owned(), shown))
}

/// The words where no row has these numbers; on RAC another instance may answer.
const GONE: &str = "V$SESSION of the instance that answers does not show it";

fn shown(row: &Row) -> String {
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
    fn shown_session_names_wait_and_blocker() {
        let row = |cells: [Option<&str>; 3]| Row(cells.map(|cell| cell.map(str::to_owned)).to_vec());
        assert_eq!(shown(&row([Some("INACTIVE"), None, None])), "V$SESSION shows it INACTIVE");
        assert_eq!(
            shown(&row([Some("ACTIVE"), Some("enq: TX - row lock contention"), Some("12")])),
            "V$SESSION shows it ACTIVE, waits for enq: TX - row lock contention, blocked by session 12"
        );
    }
}
