//! Recorded conversations of clients and real servers, from files next to the repository.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::packets::{DATA_HEAD_BYTES, PACKET_DATA, Packet, PacketStream};
use super::release::FieldVersion;

const SERVERS: [&str; 3] = ["xe18", "xe21", "free23"];

/// After the name of the format and its version, each part begins with its direction, a time and its length.
const HEAD: &[u8] = b"TNSCASS\0\x01";
const WRITTEN: u8 = 1;

/// A recorded conversation, split by direction, and its manifest.
pub(super) struct Recording {
    pub(super) about: HashMap<String, String>,
    pub(super) written: Vec<u8>,
    pub(super) read: Vec<u8>,
}

/// The folder of recordings: the one named in `DYNO_ORACLE_RECORDINGS`, or one next to the repository. They
/// are the property of others, so that none can be installed.
fn folder(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracle/cassettes");
    let named = std::env::var_os("DYNO_ORACLE_RECORDINGS").map(PathBuf::from);
    let folder = named.into_iter().chain([beside]).find(|folder| folder.is_dir());
    if folder.is_none() {
        crate::skip_unsupported(
            test,
            "no folder of recorded bytes is here (DYNO_ORACLE_RECORDINGS names one)",
        );
    }
    folder
}

/// The recordings of this kind; empty if the folder is missing.
pub(super) fn recordings(kind: &str) -> Vec<(&'static str, Recording)> {
    let Some(folder) = folder(&format!("recorded bytes of servers: {kind}")) else { return Vec::new() };
    SERVERS
        .into_iter()
        .map(|server| (server, Recording::open(&folder, &format!("{server}-{kind}"))))
        .collect()
}

impl Recording {
    fn open(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.tns-cassette"));
        let about = std::fs::read_to_string(folder.join(format!("{name}.tns-cassette.manifest"))).unwrap();
        let about = about.lines().filter_map(|line| line.split_once(" = "));
        let about = about.map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned())).collect();
        let bytes = std::fs::read(path).unwrap();
        let mut bytes = bytes.strip_prefix(HEAD).expect("the head of a recording");
        let mut recording = Self { about, written: Vec::new(), read: Vec::new() };
        while let [direction, _, _, _, _, _, _, _, _, a, b, c, d, rest @ ..] = bytes {
            let (part, rest) = rest.split_at(u32::from_le_bytes([*a, *b, *c, *d]) as usize);
            match *direction {
                WRITTEN => recording.written.extend_from_slice(part),
                _ => recording.read.extend_from_slice(part),
            }
            bytes = rest;
        }
        assert!(bytes.is_empty(), "{name}: {bytes:?}");
        recording
    }

    pub(super) fn number(&self, key: &str) -> u16 {
        self.about[key].parse().unwrap()
    }

    pub(super) fn fields(&self) -> FieldVersion {
        FieldVersion(self.number("ttc_field_version") as u8)
    }

    /// The messages of one direction, and whether the packets mark the end of an answer.
    pub(super) fn messages(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let ends_response = self.about["supports_end_of_response"] == "true" && bytes == self.read;
        packets(bytes, true)
            .into_iter()
            .map(|packet| {
                assert_eq!(packet.kind, PACKET_DATA);
                let message = packet.body[DATA_HEAD_BYTES - 8..].to_vec();
                assert_eq!(Packet::data(&message, ends_response), packet);
                message
            })
            .collect()
    }
}

/// The packets in these bytes, each checked to be written as it was read.
pub(super) fn packets(bytes: &[u8], has_long_lengths: bool) -> Vec<Packet> {
    let mut stream = PacketStream::new(bytes, 8_192);
    stream.has_long_lengths = has_long_lengths;
    let packets: Vec<Packet> = std::iter::from_fn(|| stream.receive().ok()).collect();
    let written: Vec<u8> = packets.iter().flat_map(|packet| packet.encode(has_long_lengths)).collect();
    // The checksum field of a packet is a counter of the server and carries no message.
    assert_eq!(written.len(), bytes.len());
    assert_eq!(stream.oversized, 0);
    packets
}
