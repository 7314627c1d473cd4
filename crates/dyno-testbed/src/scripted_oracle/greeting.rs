//! The start of a connection: accepted, refused, redirected or requested again, as a listener does it.

use std::io;

use super::ScriptedGreeting;
use super::conversation::Conversation;
use super::packets::{
    Accept, ConnectRequest, PACKET_ACCEPT, PACKET_CONNECT, PACKET_DATA, PACKET_REDIRECT, PACKET_REFUSE,
    PACKET_RESEND, redirection, refusal,
};

/// Flags of an ACCEPT packet: network services are available, and Oracle's encryption is required.
const NETWORK_SERVICES: u8 = 0xc5;
const ENCRYPTION_REQUIRED: u8 = 0x10;

impl Conversation<'_> {
    /// Answers like a listener; returns whether a conversation follows.
    pub(super) fn greet(&mut self) -> io::Result<bool> {
        let request = self.connect_request()?;
        match self.shared.options.greeting {
            ScriptedGreeting::Accept | ScriptedGreeting::AcceptAndHang => {}
            ScriptedGreeting::Resend(times) => {
                for _ in 0..times {
                    self.packets.send(PACKET_RESEND, &[])?;
                    if self.connect_request()? != request {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                }
            }
            ScriptedGreeting::Redirect(port) => {
                let place = redirection(port, &request.descriptor);
                self.packets.send(PACKET_REDIRECT, &(place.len() as u16).to_be_bytes())?;
                self.packets.send(PACKET_DATA, &[&[0, 0], place.as_bytes()].concat())?;
                return Ok(false);
            }
            ScriptedGreeting::Refuse(number) => {
                self.packets.send(PACKET_REFUSE, &refusal(number))?;
                return Ok(false);
            }
        }
        let sdu = self.shared.options.sdu.min(request.sdu);
        self.packets.sdu = sdu as usize;
        let encryption = if self.shared.options.requires_encryption { ENCRYPTION_REQUIRED } else { 0 };
        let accept = Accept {
            protocol: self.release().protocol(),
            sdu,
            services: NETWORK_SERVICES | encryption,
            flags: self.release().accept_flags(),
            identifier: [0; 16],
        };
        self.packets.send(PACKET_ACCEPT, &accept.encode())?;
        self.packets.has_long_lengths = true;
        if self.shared.options.greeting == ScriptedGreeting::AcceptAndHang {
            loop {
                self.packets.receive()?;
            }
        }
        Ok(true)
    }

    fn connect_request(&mut self) -> io::Result<ConnectRequest> {
        let packet = self.packets.receive()?;
        if packet.kind != PACKET_CONNECT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        ConnectRequest::read(&packet.body, || Ok(self.packets.receive()?.body))
    }
}
