//! Packets: frames, markers, and a listener's answers to a connection request.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use super::codec::{In, Out, Short};

pub(super) const PACKET_CONNECT: u8 = 1;
pub(super) const PACKET_ACCEPT: u8 = 2;
pub(super) const PACKET_REFUSE: u8 = 4;
pub(super) const PACKET_REDIRECT: u8 = 5;
pub(super) const PACKET_DATA: u8 = 6;
pub(super) const PACKET_RESEND: u8 = 11;
pub(super) const PACKET_MARKER: u8 = 12;
pub(super) const PACKET_CONTROL: u8 = 14;

/// Bytes before a packet's body, and before a message in a DATA packet.
const HEAD_BYTES: usize = 8;
pub(super) const DATA_HEAD_BYTES: usize = 10;

/// Flags of a DATA packet: it ends an answer.
const FLAG_END_OF_RESPONSE: u16 = 0x2000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// The message being sent has ended.
    Break = 1,
    /// Discard what was sent before, on both sides.
    Reset = 2,
    /// End the current call.
    Interrupt = 3,
}

/// A packet without its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) kind: u8,
    pub(super) body: Vec<u8>,
}

impl Packet {
    /// Encodes the packet; lengths have four bytes after a connection is accepted.
    pub(super) fn encode(&self, has_long_lengths: bool) -> Vec<u8> {
        let length = (self.body.len() + HEAD_BYTES) as u32;
        let length = if has_long_lengths { length } else { length << 16 };
        [&length.to_be_bytes()[..], &[self.kind, 0, 0, 0], &self.body].concat()
    }

    /// A DATA packet with this part of a message.
    pub(super) fn data(part: &[u8], ends_response: bool) -> Self {
        let flags = if ends_response { FLAG_END_OF_RESPONSE } else { 0 };
        Self { kind: PACKET_DATA, body: [&flags.to_be_bytes()[..], part].concat() }
    }

    /// What a marker requests; absent if the packet is no marker.
    pub(super) fn marker(&self) -> Option<Marker> {
        let kinds = [Marker::Break, Marker::Reset, Marker::Interrupt];
        let number = *self.body.get(2).filter(|_| self.kind == PACKET_MARKER)?;
        kinds.into_iter().find(|&marker| marker as u8 == number)
    }
}

/// The packets of one connection.
pub(super) struct PacketStream<S> {
    stream: S,
    /// Agreed maximum bytes of a packet.
    pub(super) sdu: usize,
    /// Whether lengths have four bytes, as they do after the connection is accepted.
    pub(super) has_long_lengths: bool,
    /// Received packets that were larger than agreed.
    pub(super) oversized: u64,
}

impl<S: Read> PacketStream<S> {
    pub(super) fn new(stream: S, sdu: usize) -> Self {
        Self { stream, sdu, has_long_lengths: false, oversized: 0 }
    }

    pub(super) fn receive(&mut self) -> io::Result<Packet> {
        let mut head = [0; HEAD_BYTES];
        self.stream.read_exact(&mut head)?;
        let short = usize::from(u16::from_be_bytes([head[0], head[1]]));
        let long = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let length = if self.has_long_lengths { long } else { short };
        if self.has_long_lengths && length > self.sdu {
            self.oversized += 1;
        }
        let mut body = vec![0; length.saturating_sub(HEAD_BYTES)];
        self.stream.read_exact(&mut body)?;
        Ok(Packet { kind: head[4], body })
    }
}

impl PacketStream<TcpStream> {
    pub(super) fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let packet = Packet { kind, body: body.to_vec() };
        self.stream.write_all(&packet.encode(self.has_long_lengths))
    }

    pub(super) fn send_marker(&mut self, marker: Marker) -> io::Result<()> {
        self.send(PACKET_MARKER, &[1, 0, marker as u8])
    }

    /// Sends a message in as many packets as needed; the last one marks the end of the answer if
    /// `ends_response`.
    pub(super) fn send_message(&mut self, message: &[u8], ends_response: bool) -> io::Result<()> {
        let mut parts = message.chunks(self.sdu - DATA_HEAD_BYTES).peekable();
        while let Some(part) = parts.next() {
            let packet = Packet::data(part, ends_response && parts.peek().is_none());
            self.stream.write_all(&packet.encode(self.has_long_lengths))?;
        }
        Ok(())
    }
}

/// A client's connection request to a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConnectRequest {
    /// The largest packet that it offers, in bytes.
    pub(super) sdu: u32,
    /// The destination as a descriptor.
    pub(super) descriptor: String,
}

impl ConnectRequest {
    /// Reads the body of a CONNECT packet. A descriptor that does not fit is in the next packet, whose body
    /// `more` returns.
    pub(super) fn read(body: &[u8], more: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Self> {
        let fields = |mut fields: In<'_>| -> Result<(usize, usize, u32), Short> {
            fields.skip_u8(16)?;
            let (length, offset) = (fields.u16()?, fields.u16()?);
            fields.skip_u8(30)?;
            Ok((length.into(), offset.into(), fields.u32()?))
        };
        let (length, offset, sdu) = fields(In::new(body)).map_err(|Short| io::ErrorKind::InvalidData)?;
        let begin = offset.saturating_sub(HEAD_BYTES);
        let descriptor = match body.get(begin..begin + length) {
            Some(descriptor) => descriptor.to_vec(),
            // After the flags of a DATA packet.
            None => more()?.split_off(2),
        };
        Ok(Self { sdu, descriptor: String::from_utf8_lossy(&descriptor).into_owned() })
    }
}

/// A listener's acceptance of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Accept {
    pub(super) protocol: u16,
    /// Maximum bytes of a packet.
    pub(super) sdu: u32,
    /// Flags of network services, such as encryption.
    pub(super) services: u8,
    /// Protocol capabilities, since version 318.
    pub(super) flags: u32,
    /// Identifier of the connection, since version 319.
    pub(super) identifier: [u8; 16],
}

/// Protocol versions since which an ACCEPT packet has flags and an identifier.
const PROTOCOL_WITH_FLAGS: u16 = 318;
const PROTOCOL_WITH_IDENTIFIER: u16 = 319;

impl Accept {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut tail = Out::default();
        tail.u8(self.services).zeros(9).u32(self.sdu).u32(self.sdu).u8(0);
        if self.protocol >= PROTOCOL_WITH_FLAGS {
            tail.u32(self.flags);
        }
        if self.protocol >= PROTOCOL_WITH_IDENTIFIER {
            tail.raw(&self.identifier);
        }
        let tail = tail.0;
        let mut out = Out::default();
        // Options, sizes of old clients, byte order, and data offset.
        out.u16(self.protocol).u16(1).zeros(4).u16(0x0100).u16(0);
        out.u16((HEAD_BYTES + out.0.len() + 2 + tail.len()) as u16).raw(&tail);
        out.0
    }

    /// Reads the body of the packet.
    #[cfg(test)]
    pub(super) fn read(body: &[u8]) -> Result<Self, Short> {
        let mut body = In::new(body);
        let protocol = body.u16()?;
        body.skip_u8(12)?;
        let services = body.u8()?;
        body.skip_u8(9)?;
        let sdu = body.u32()?;
        body.skip_u8(5)?;
        let flags = if protocol >= PROTOCOL_WITH_FLAGS { body.u32()? } else { 0 };
        let identifier = match protocol >= PROTOCOL_WITH_IDENTIFIER {
            true => body.raw(16)?.try_into().expect("it has 16 bytes"),
            false => [0; 16],
        };
        Ok(Self { protocol, sdu, services, flags, identifier })
    }
}

/// Body of a REFUSE packet with this listener error.
pub(super) fn refusal(number: u32) -> Vec<u8> {
    let text = format!("(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR={number})(ERROR_STACK=(ERROR=(CODE={number}))))");
    let mut out = Out::default();
    out.raw(&[0x22, 0]).u16(text.len() as u16).raw(text.as_bytes());
    out.0
}

/// Body of a CONTROL packet which says that the service is about to end.
pub(super) fn shutdown_notice() -> Vec<u8> {
    /// Kind of the notice, and the number of ORA-12572.
    const NOTICE: u16 = 8;
    const SHUTDOWN: u32 = 12_572;
    let mut out = Out::default();
    out.u16(NOTICE).zeros(4).u32(SHUTDOWN);
    out.0
}

/// Target of a redirect: a port of this machine, with the same descriptor.
pub(super) fn redirection(port: u16, descriptor: &str) -> String {
    format!("(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT={port}))\0{descriptor}")
}
