//! Transfers the folders of a plan's workloads: packed, in pieces, once for each reservation. The agent keeps
//! them in memory, and writes them to disk only with the results that it keeps.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use dyno_workload::custom::SentFolders;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{FOLDERS_BYTES_MAX, FOLDERS_TEXT_MAX};
use crate::pieces::{PieceAssembler, TransferPiece, checksum};

/// Workload folders, validated when they are decoded.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Folders(pub(crate) SentFolders);

impl Folders {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Folders {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.folders().serialize(to)
    }
}

impl<'de> Deserialize<'de> for Folders {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let folders = BTreeMap::<String, BTreeMap<String, String>>::deserialize(from)?;
        SentFolders::new(folders).map(Self).map_err(D::Error::custom)
    }
}

/// Packs folders into bytes.
///
/// # Errors
/// The folders are larger than an agent accepts; the text gives the sizes.
pub(crate) fn pack_folders(folders: &Folders) -> Result<Vec<u8>, String> {
    let text = serde_json::to_vec(folders).map_err(|error| error.to_string())?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&text).map_err(|error| error.to_string())?;
    let packed = packed.finish().map_err(|error| error.to_string())?;
    match text.len() as u64 > FOLDERS_TEXT_MAX || packed.len() > FOLDERS_BYTES_MAX {
        true => Err(format!("{} bytes, {} compressed: too large to send", text.len(), packed.len())),
        false => Ok(packed),
    }
}

fn unpack_folders(bytes: &[u8]) -> Result<Folders, String> {
    let mut text = Vec::new();
    let read = GzDecoder::new(bytes).take(FOLDERS_TEXT_MAX + 1).read_to_end(&mut text);
    read.map_err(|error| format!("the workload's files cannot be unpacked: {error}"))?;
    if text.len() as u64 > FOLDERS_TEXT_MAX {
        return Err(format!("the workload's files unpack to more than {FOLDERS_TEXT_MAX} bytes"));
    }
    serde_json::from_slice(&text).map_err(|error| format!("the workload's files cannot be taken: {error}"))
}

/// The folders that an agent has received from the controller that reserved it.
#[derive(Debug, Default)]
pub(crate) struct ReceivedFolders {
    coming: PieceAssembler,
    /// The latest complete folders, and their checksum; absent before the first.
    whole: Option<(String, Folders)>,
}

impl ReceivedFolders {
    /// Adds a piece.
    ///
    /// # Errors
    /// The piece is invalid, or the complete bytes are not folders; the text says why.
    pub(crate) fn take(&mut self, piece: TransferPiece, bytes: &[u8]) -> Result<(), String> {
        if self.whole.as_ref().is_some_and(|(sum, _)| *sum == piece.sum) {
            // A repeated piece: the acknowledgement was lost.
            return Ok(());
        }
        if let Some(whole) = self.coming.take(piece, bytes, FOLDERS_BYTES_MAX)? {
            self.whole = Some((checksum(&whole), unpack_folders(&whole)?));
        }
        Ok(())
    }

    /// Returns the folders with this checksum; empty if the order names none.
    ///
    /// # Errors
    /// The folders have not arrived; the text says so.
    pub(crate) fn get(&self, sum: Option<&str>) -> Result<Folders, String> {
        let Some(sum) = sum else { return Ok(Folders::default()) };
        let whole = self.whole.as_ref().filter(|(own, _)| own == sum);
        whole
            .map(|(_, folders)| folders.clone())
            .ok_or_else(|| "the workload's files have not arrived".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::pieces;

    fn folders(text: &str) -> Folders {
        let files = BTreeMap::from([("workload.toml".to_owned(), text.to_owned())]);
        Folders(SentFolders::new(BTreeMap::from([("shop".to_owned(), files)])).unwrap())
    }

    fn send_pieces(arrived: &mut ReceivedFolders, bytes: &[u8]) -> Result<(), String> {
        pieces(bytes).try_for_each(|(piece, part)| arrived.take(piece, part))
    }

    #[test]
    fn workload_folders_arrive_at_agent_unchanged() {
        // Text that hardly compresses, so that it needs several pieces.
        let text: String = (0..12_000u32).map(|at| checksum(&at.to_le_bytes())).collect();
        let sent = folders(&text);
        let bytes = pack_folders(&sent).unwrap();
        assert!(pieces(&bytes).count() > 1);
        let mut arrived = ReceivedFolders::default();
        let own_sum = checksum(&bytes);
        assert!(arrived.get(Some(&own_sum)).unwrap_err().contains("not arrived"));
        send_pieces(&mut arrived, &bytes).unwrap();
        assert_eq!(arrived.get(Some(&own_sum)), Ok(sent));
        send_pieces(&mut arrived, &bytes).unwrap();
        assert_eq!(arrived.get(None), Ok(Folders::default()));
        let next = folders("another");
        send_pieces(&mut arrived, &pack_folders(&next).unwrap()).unwrap();
        assert_eq!(arrived.get(Some(&checksum(&pack_folders(&next).unwrap()))), Ok(next));
        assert!(arrived.get(Some(&own_sum)).is_err(), "only the last ones are there");
    }

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn path_escape_and_decompression_bomb_are_refused() {
        let mut arrived = ReceivedFolders::default();
        for name in ["../.bashrc", "/etc/cron.d/x", "a/../../b"] {
            let text = serde_json::json!({ "shop": { name: "x" } }).to_string();
            let why = send_pieces(&mut arrived, &gz(text.as_bytes())).unwrap_err();
            assert!(why.contains("not a valid file name"), "{why}");
        }
        let bomb = gz(&vec![b' '; FOLDERS_TEXT_MAX as usize + 1]);
        assert!(bomb.len() < 1 << 20);
        assert!(send_pieces(&mut arrived, &bomb).unwrap_err().contains("unpack to more than"));
        assert!(send_pieces(&mut arrived, b"no gzip").unwrap_err().contains("cannot be unpacked"));
        assert!(send_pieces(&mut arrived, &gz(b"[1]")).unwrap_err().contains("cannot be taken"));
        assert!(arrived.whole.is_none());
    }
}
