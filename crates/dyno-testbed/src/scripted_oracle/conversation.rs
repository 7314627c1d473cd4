//! One client's connection: dispatches its requests and sends the answers.

use std::collections::HashMap;
use std::io;
use std::net::TcpStream;

use super::codec::{In, Out, Short};
use super::cursor::ScriptedCursor;
use super::failure::{RequestFailure, unexpected};
use super::logon::{self, FUNCTION_LOGON_FIRST, MESSAGE_FUNCTION};
use super::messages::{CallEnd, MESSAGE_END_OF_RESPONSE, MESSAGE_STATUS, put_session_state};
use super::packets::{Marker, PACKET_CONTROL, PACKET_DATA, PacketStream, shutdown_notice};
use super::release::{FieldVersion, ScriptedRelease};
use super::{SessionLabels, Shared};

const MESSAGE_PIGGYBACK: u8 = 17;

const FUNCTION_REEXECUTE: u8 = 4;
const FUNCTION_FETCH: u8 = 5;
const FUNCTION_LOGOFF: u8 = 9;
const FUNCTION_COMMIT: u8 = 14;
const FUNCTION_ROLLBACK: u8 = 15;
const FUNCTION_REEXECUTE_AND_FETCH: u8 = 78;
const FUNCTION_EXECUTE: u8 = 94;
const FUNCTION_LOGON_SECOND: u8 = 115;
const FUNCTION_PING: u8 = 147;

/// The connection of one client, with its cursors and its transaction.
pub(super) struct Conversation<'s> {
    pub(super) packets: PacketStream<TcpStream>,
    pub(super) shared: &'s Shared,
    pub(super) cursors: HashMap<u64, ScriptedCursor>,
    pub(super) next_cursor: u64,
    pub(super) in_transaction: bool,
    is_logged_on: bool,
    /// The session's number; absent before log-on.
    session: Option<u64>,
}

impl<'s> Conversation<'s> {
    pub(super) fn new(stream: TcpStream, shared: &'s Shared) -> Self {
        Self {
            packets: PacketStream::new(stream, shared.options.sdu as usize),
            shared,
            cursors: HashMap::new(),
            next_cursor: 1,
            in_transaction: false,
            is_logged_on: false,
            session: None,
        }
    }

    pub(super) fn release(&self) -> ScriptedRelease {
        self.shared.options.release
    }

    pub(super) fn fields(&self) -> FieldVersion {
        self.release().fields()
    }

    /// Answers requests until the client leaves.
    pub(super) fn run(&mut self) -> io::Result<()> {
        if !self.greet()? {
            return Ok(());
        }
        loop {
            let packet = self.packets.receive()?;
            let oversized = std::mem::take(&mut self.packets.oversized);
            self.shared.count(|counts| counts.oversized_packets += oversized);
            // Markers and similar packets come from clients that cancel a call; they get no answer.
            if packet.kind != PACKET_DATA {
                continue;
            }
            if packet.body.len() <= 2 {
                return Ok(());
            }
            self.shared.count(|counts| counts.round_trips += 1);
            if let Some(session) = self.session {
                self.shared.database.count_request(session);
            }
            let mut message = packet.body[2..].to_vec();
            loop {
                match self.answer(&message) {
                    Ok(()) => break,
                    Err(RequestFailure::Short) => {
                        let more = self.packets.receive()?;
                        message.extend_from_slice(more.body.get(2..).unwrap_or(&[]));
                    }
                    Err(RequestFailure::End(error)) => return Err(error),
                }
            }
        }
    }

    /// Number of this client's session.
    pub(super) fn session(&mut self) -> u64 {
        *self.session.get_or_insert_with(|| self.shared.database.log_on())
    }

    /// Ends the session in the database, at most once.
    pub(super) fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            self.shared.database.log_off(session);
        }
    }

    /// Receives what the client sends without an answer, until the client disconnects.
    pub(super) fn hang(&mut self) -> Result<(), RequestFailure> {
        loop {
            self.packets.receive()?;
        }
    }

    /// Sends no answer until the client cancels the call.
    pub(super) fn await_break(&mut self) -> Result<(), RequestFailure> {
        while self.packets.receive()?.marker() != Some(Marker::Interrupt) {}
        self.shared.count(|counts| counts.breaks += 1);
        self.reset()
    }

    /// Breaks an answer before its first byte: both sides reset, and the next message is the answer.
    pub(super) fn break_answer(&mut self) -> Result<(), RequestFailure> {
        self.packets.send_marker(Marker::Break)?;
        self.reset()
    }

    fn reset(&mut self) -> Result<(), RequestFailure> {
        while self.packets.receive()?.marker() != Some(Marker::Reset) {}
        self.shared.count(|counts| counts.resets += 1);
        Ok(self.packets.send_marker(Marker::Reset)?)
    }

    /// Sends a message that is a complete answer.
    pub(super) fn send(&mut self, mut message: Out) -> Result<(), RequestFailure> {
        let marks_end = self.release().marks_ends();
        if self.is_logged_on && self.shared.options.sends_notices {
            self.packets.send(PACKET_CONTROL, &shutdown_notice())?;
            let answer = std::mem::take(&mut message.0);
            put_session_state(&mut message, "DYNO");
            message.raw(&answer);
        }
        if marks_end {
            message.u8(MESSAGE_END_OF_RESPONSE);
        }
        Ok(self.packets.send_message(&message.0, marks_end)?)
    }

    /// Sends the first bytes of an answer and never the rest.
    pub(super) fn send_beginning(&mut self, message: &Out, bytes: usize) -> Result<(), RequestFailure> {
        self.packets.send_message(&message.0[..bytes.min(message.0.len())], false)?;
        Err(unexpected("the script cuts this answer".to_owned()))
    }

    /// Answers a complete message, or reports that its rest is in the next packet.
    fn answer(&mut self, message: &[u8]) -> Result<(), RequestFailure> {
        let mut message = In::new(message);
        let mut kind = message.u8()?;
        let mut closed = Vec::new();
        let mut labels = SessionLabels::default();
        while kind == MESSAGE_PIGGYBACK {
            closed.extend(self.piggyback(&mut message, &mut labels)?);
            kind = message.u8()?;
        }
        if labels != SessionLabels::default() {
            let session = self.session();
            self.shared.database.label(session, &labels);
        }
        match kind {
            logon::MESSAGE_PROTOCOL => {
                logon::read_protocol(&mut message)?;
                return self.send(logon::protocol(self.release()));
            }
            logon::MESSAGE_DATA_TYPES => {
                logon::read_data_types(&mut message)?;
                let mut types = Out::default();
                types.u8(logon::MESSAGE_DATA_TYPES).u16(0);
                return self.send(types);
            }
            logon::MESSAGE_FAST_AUTHENTICATION => {
                logon::read_fast_authentication(&mut message)?;
                let mut out = logon::protocol(self.release());
                out.u8(logon::MESSAGE_DATA_TYPES).u16(0);
                return self.send_parameters(out, &logon::challenge(&self.shared.options));
            }
            MESSAGE_FUNCTION => {}
            _ => return Err(unexpected(format!("message {kind}"))),
        }
        let function = self.head(&mut message)?;
        match function {
            FUNCTION_LOGON_FIRST => {
                logon::read_logon(&mut message)?;
                self.send_parameters(Out::default(), &logon::challenge(&self.shared.options))
            }
            FUNCTION_LOGON_SECOND => {
                logon::read_logon(&mut message)?;
                if let Some((number, text)) = self.shared.options.refused_logon {
                    let mut out = Out::default();
                    self.put_error(&mut out, number, text, 0, 0);
                    return self.send(out);
                }
                let session = self.session();
                let instance = self.shared.database.instance(session);
                let parameters = logon::session(self.release(), session, instance);
                self.send_parameters(Out::default(), &parameters)?;
                self.is_logged_on = true;
                Ok(())
            }
            FUNCTION_COMMIT | FUNCTION_ROLLBACK | FUNCTION_LOGOFF | FUNCTION_PING => {
                self.close_cursors(&closed);
                if function == FUNCTION_LOGOFF {
                    self.leave();
                }
                self.shared.count(|counts| match function {
                    FUNCTION_COMMIT => counts.commits += 1,
                    FUNCTION_ROLLBACK => counts.rollbacks += 1,
                    _ => {}
                });
                if matches!(function, FUNCTION_COMMIT | FUNCTION_ROLLBACK) {
                    let session = self.session();
                    self.shared.database.end_transaction(session, function == FUNCTION_COMMIT);
                    self.in_transaction = false;
                }
                let mut status = Out::default();
                self.put_status(&mut status);
                self.send(status)
            }
            FUNCTION_FETCH => {
                let (cursor, rows) = (message.ub()?, message.ub()?);
                self.close_cursors(&closed);
                self.shared.count(|counts| counts.fetches += 1);
                self.fetch(cursor, rows)
            }
            FUNCTION_REEXECUTE | FUNCTION_REEXECUTE_AND_FETCH => {
                self.execute_again(&mut message, &closed, function == FUNCTION_REEXECUTE_AND_FETCH)
            }
            FUNCTION_EXECUTE => self.execute(&mut message, &closed),
            _ => Err(unexpected(format!("function {function}"))),
        }
    }

    /// Reads the function's number, then skips its sequence number and its token.
    pub(super) fn head(&self, message: &mut In<'_>) -> Result<u8, Short> {
        let function = message.u8()?;
        message.u8()?;
        if self.fields() >= FieldVersion::R23_TOKENS {
            message.ub()?;
        }
        Ok(function)
    }

    pub(super) fn close_cursors(&mut self, closed: &[u64]) {
        self.shared.count(|counts| counts.closed_cursors += closed.len() as u64);
        for cursor in closed {
            self.cursors.remove(cursor);
        }
    }

    /// Status of the call: whether a transaction is open.
    fn call_status(&self) -> u64 {
        1 | if self.in_transaction { 2 } else { 0 }
    }

    fn put_status(&self, out: &mut Out) {
        out.u8(MESSAGE_STATUS).ub(self.call_status()).ub(0);
    }

    fn send_parameters(
        &mut self,
        mut out: Out,
        parameters: &[(&'static str, String)],
    ) -> Result<(), RequestFailure> {
        logon::put_parameters(&mut out, parameters);
        self.put_status(&mut out);
        self.send(out)
    }

    /// Writes how a call ended: successfully if `number` is 0, else with the database's error.
    pub(super) fn put_error(&self, out: &mut Out, number: u32, text: &str, cursor: u64, rows: u64) {
        let end = CallEnd {
            status: self.call_status(),
            row: rows,
            cursor,
            number,
            rows,
            text: text.to_owned(),
            ..CallEnd::default()
        };
        end.put(out, self.fields());
    }
}
