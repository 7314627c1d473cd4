//! One client's connection: packets, log-on, and which request is which.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;

use super::Shared;
use super::codec::{In, Out, Short};
use super::cursor::ScriptedCursor;

/// The version of the fields of messages that both sides use: 19c.
pub(super) const FIELD_VERSION: u8 = 12;

const PACKET_CONNECT: u8 = 1;
const PACKET_ACCEPT: u8 = 2;
const PACKET_DATA: u8 = 6;

const MESSAGE_PROTOCOL: u8 = 1;
const MESSAGE_DATA_TYPES: u8 = 2;
const MESSAGE_FUNCTION: u8 = 3;
const MESSAGE_ERROR: u8 = 4;
const MESSAGE_PARAMETERS: u8 = 8;
const MESSAGE_STATUS: u8 = 9;
const MESSAGE_PIGGYBACK: u8 = 17;

const FUNCTION_REEXECUTE: u8 = 4;
const FUNCTION_FETCH: u8 = 5;
const FUNCTION_LOGOFF: u8 = 9;
const FUNCTION_COMMIT: u8 = 14;
const FUNCTION_ROLLBACK: u8 = 15;
const FUNCTION_REEXECUTE_AND_FETCH: u8 = 78;
const FUNCTION_EXECUTE: u8 = 94;
const FUNCTION_CLOSE_CURSORS: u8 = 105;
const FUNCTION_LOGON_SECOND: u8 = 115;
const FUNCTION_LOGON_FIRST: u8 = 118;
const FUNCTION_END_TO_END: u8 = 135;
const FUNCTION_PING: u8 = 147;

/// Flag of an accept packet: Oracle's encryption is needed.
const ENCRYPTION_REQUIRED: u8 = 0x10;

/// The connection of one client, with its cursors and its transaction.
pub(super) struct Conversation<'s> {
    stream: TcpStream,
    pub(super) shared: &'s Shared,
    /// Bytes of a packet at most, as agreed.
    sdu: usize,
    /// Whether lengths have four bytes, as they have once the connection is accepted.
    has_long_lengths: bool,
    pub(super) cursors: HashMap<u64, ScriptedCursor>,
    pub(super) next_cursor: u64,
    pub(super) in_transaction: bool,
}

/// How a request ended that could not be answered.
pub(super) enum RequestFailure {
    /// The rest of it is in the next packet.
    Short,
    /// The connection is to end.
    End(io::Error),
}

impl From<Short> for RequestFailure {
    fn from(Short: Short) -> Self {
        Self::Short
    }
}

impl From<io::Error> for RequestFailure {
    fn from(error: io::Error) -> Self {
        Self::End(error)
    }
}

pub(super) fn unexpected(problem: String) -> RequestFailure {
    RequestFailure::End(io::Error::new(io::ErrorKind::InvalidData, problem))
}

impl<'s> Conversation<'s> {
    pub(super) fn new(stream: TcpStream, shared: &'s Shared) -> Self {
        Self {
            stream,
            shared,
            sdu: shared.options.sdu as usize,
            has_long_lengths: false,
            cursors: HashMap::new(),
            next_cursor: 1,
            in_transaction: false,
        }
    }

    /// Answers until the client leaves.
    pub(super) fn run(mut self) -> io::Result<()> {
        self.accept()?;
        loop {
            let (kind, body) = self.packet()?;
            // Markers and others are of clients that break off: they get no answer.
            if kind != PACKET_DATA {
                continue;
            }
            if body.len() <= 2 {
                return Ok(());
            }
            self.shared.count(|counts| counts.round_trips += 1);
            let mut message = body[2..].to_vec();
            loop {
                match self.answer(&message) {
                    Ok(()) => break,
                    Err(RequestFailure::Short) => {
                        let (_, more) = self.packet()?;
                        message.extend_from_slice(more.get(2..).unwrap_or(&[]));
                    }
                    Err(RequestFailure::End(error)) => return Err(error),
                }
            }
        }
    }

    /// Hears what the client sends and answers nothing, until it goes away.
    pub(super) fn hang(&mut self) -> Result<(), RequestFailure> {
        loop {
            self.packet()?;
        }
    }

    fn packet(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 8];
        self.stream.read_exact(&mut head)?;
        let short = usize::from(u16::from_be_bytes([head[0], head[1]]));
        let long = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let length = if self.has_long_lengths { long } else { short };
        if self.has_long_lengths && length > self.sdu {
            self.shared.count(|counts| counts.oversized_packets += 1);
        }
        let mut body = vec![0; length.saturating_sub(head.len())];
        self.stream.read_exact(&mut body)?;
        Ok((head[4], body))
    }

    fn send_packet(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let length = (body.len() + 8) as u32;
        let length = if self.has_long_lengths { length } else { length << 16 };
        let packet = [&length.to_be_bytes()[..], &[kind, 0, 0, 0], body].concat();
        self.stream.write_all(&packet)
    }

    /// Sends a message, in as many packets as it takes.
    pub(super) fn send(&mut self, message: &Out) -> Result<(), RequestFailure> {
        for part in message.0.chunks(self.sdu - 10) {
            self.send_packet(PACKET_DATA, &[&[0, 0][..], part].concat())?;
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        let (kind, mut body) = self.packet()?;
        let number = |body: &[u8], at: usize| {
            Some(usize::from(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?])))
        };
        let (length, offset) = (number(&body, 16), number(&body, 18));
        let (Some(length), Some(offset), true) = (length, offset, kind == PACKET_CONNECT && body.len() >= 54)
        else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        // A long descriptor comes in a packet of its own.
        if body.len() < offset - 8 + length {
            self.packet()?;
        }
        let wanted = u32::from_be_bytes([body[50], body[51], body[52], body[53]]) as usize;
        body.clear();
        self.sdu = self.sdu.min(wanted);
        let encryption = if self.shared.options.requires_encryption { ENCRYPTION_REQUIRED } else { 0 };
        let mut accept = Out::default();
        accept
            .u16(318)
            .zeros(12)
            .u8(0xc5 | encryption)
            .zeros(9)
            .raw(&(self.sdu as u32).to_be_bytes())
            .zeros(9);
        self.send_packet(PACKET_ACCEPT, &accept.0)?;
        self.has_long_lengths = true;
        Ok(())
    }

    /// Answers a message that is whole, or says that the rest is in the next packet.
    fn answer(&mut self, message: &[u8]) -> Result<(), RequestFailure> {
        let mut message = In::new(message);
        let mut kind = message.u8()?;
        let mut closed = Vec::new();
        while kind == MESSAGE_PIGGYBACK {
            closed.extend(piggyback(&mut message)?);
            kind = message.u8()?;
        }
        match kind {
            MESSAGE_PROTOCOL => return self.send(&protocol()),
            MESSAGE_DATA_TYPES => return self.send(Out::default().u8(MESSAGE_DATA_TYPES).u16(0)),
            MESSAGE_FUNCTION => {}
            _ => return Err(unexpected(format!("message {kind}"))),
        }
        let function = message.u8()?;
        message.u8()?;
        match function {
            FUNCTION_LOGON_FIRST => {
                let challenge: &[(&str, &str)] = match self.shared.options.has_old_verifier {
                    true => &[("AUTH_SESSKEY", OLD_KEY), ("AUTH_VFR_DATA", "CDCDCDCDCDCDCDCDCDCD")],
                    false => &[
                        ("AUTH_SESSKEY", KEY),
                        ("AUTH_VFR_DATA", "CDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCD"),
                        ("AUTH_PBKDF2_CSK_SALT", "EFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEF"),
                        ("AUTH_PBKDF2_VGEN_COUNT", "4096"),
                        ("AUTH_PBKDF2_SDER_COUNT", "3"),
                    ],
                };
                self.send_parameters(challenge)
            }
            FUNCTION_LOGON_SECOND => self.send_parameters(&[
                ("AUTH_VERSION_NO", &((19 << 24) | (21 << 16)).to_string()),
                ("AUTH_SESSION_ID", "77"),
                ("AUTH_SERIAL_NUM", "4242"),
                ("AUTH_MAX_OPEN_CURSORS", "300"),
                ("AUTH_SC_DBUNIQUE_NAME", "ORCL"),
                ("AUTH_INSTANCENAME", "orcl1"),
            ]),
            FUNCTION_COMMIT | FUNCTION_ROLLBACK | FUNCTION_LOGOFF | FUNCTION_PING => {
                self.close_cursors(&closed);
                self.shared.count(|counts| match function {
                    FUNCTION_COMMIT => counts.commits += 1,
                    FUNCTION_ROLLBACK => counts.rollbacks += 1,
                    _ => {}
                });
                if matches!(function, FUNCTION_COMMIT | FUNCTION_ROLLBACK) {
                    self.in_transaction = false;
                }
                let mut status = Out::default();
                self.put_status(&mut status);
                self.send(&status)
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

    pub(super) fn close_cursors(&mut self, closed: &[u64]) {
        self.shared.count(|counts| counts.closed_cursors += closed.len() as u64);
        for cursor in closed {
            self.cursors.remove(cursor);
        }
    }

    /// The state of the call: whether a transaction is open.
    fn call_status(&self) -> u64 {
        1 | if self.in_transaction { 2 } else { 0 }
    }

    fn put_status(&self, out: &mut Out) {
        out.u8(MESSAGE_STATUS).ub(self.call_status()).ub(0);
    }

    fn send_parameters(&mut self, parameters: &[(&str, &str)]) -> Result<(), RequestFailure> {
        let mut out = Out::default();
        out.u8(MESSAGE_PARAMETERS).ub(parameters.len() as u64);
        for (name, value) in parameters {
            out.text(name).text(value).ub(0);
        }
        self.put_status(&mut out);
        self.send(&out)
    }

    /// How a call ended: well, where `number` is 0, or with the database's refusal.
    pub(super) fn put_error(&self, out: &mut Out, number: u32, text: &str, cursor: u64, rows: u64) {
        let short = if number < 65_536 { u64::from(number) } else { 0 };
        out.u8(MESSAGE_ERROR).ub(self.call_status()).ub(0).ub(rows).ub(short).ub_zeros(2).ub(cursor);
        // Where the error is, flags, a row's address, the system's error, and arrays of errors.
        out.ub(0).zeros(6).ub_zeros(2).u8(0).ub_zeros(2).ub(0).zeros(2).ub_zeros(3).ub_zeros(3);
        out.ub(u64::from(number)).ub(rows);
        if number > 0 {
            out.bytes(text.as_bytes());
        }
    }
}

const KEY: &str = "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB";
const OLD_KEY: &str =
    "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB";

/// What the server can do.
fn protocol() -> Out {
    let (mut compile_time, mut run_time) = ([0; 55], [0; 11]);
    compile_time[7] = FIELD_VERSION;
    run_time[6] = 4;
    let mut out = Out::default();
    out.u8(MESSAGE_PROTOCOL).raw(&[6, 0]).raw(b"x86_64/Linux 2.4.xx\0");
    out.raw(&873_u16.to_le_bytes()).u8(1).raw(&[0, 0]).u16(11).zeros(5).zeros(4).u16(2_000);
    out.bytes(&compile_time).bytes(&run_time);
    out
}

/// What travels before a request: cursors that it closes, and what it says of itself.
fn piggyback(message: &mut In<'_>) -> Result<Vec<u64>, RequestFailure> {
    let function = message.u8()?;
    message.u8()?;
    match function {
        FUNCTION_CLOSE_CURSORS => {
            message.u8()?;
            let count = message.ub()?;
            Ok((0..count).map(|_| message.ub()).collect::<Result<_, _>>()?)
        }
        FUNCTION_END_TO_END => {
            message.skip_u8(2)?;
            message.skip_ub(1)?;
            let mut lengths = Vec::new();
            for place in 0..9 {
                message.u8()?;
                let length = message.ub()?;
                // Client identifier, module, action, client information and the database operation; the others are no texts.
                if matches!(place, 0 | 1 | 2 | 5 | 8) {
                    lengths.push(length);
                }
            }
            for length in lengths {
                if length > 0 {
                    message.bytes()?;
                }
            }
            Ok(Vec::new())
        }
        _ => Err(unexpected(format!("piggyback {function}"))),
    }
}
