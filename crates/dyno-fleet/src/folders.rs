//! The folders of a plan's workloads as they travel: packed, in pieces, sent once for as long as an agent is reserved. The agent has them in
//! memory, and nothing of them on its disk but in what it keeps of a run.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use dyno_workload::own::SentFolders;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{FOLDERS_BYTES_MAX, FOLDERS_TEXT_MAX};
use crate::pieces::{Piece, Pieces, sum};

/// Folders, which are checked when they are read.
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

/// Folders as packed bytes.
///
/// # Errors
/// They are larger than an agent takes, in words.
pub(crate) fn packed(folders: &Folders) -> Result<Vec<u8>, String> {
    let text = serde_json::to_vec(folders).map_err(|error| error.to_string())?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&text).map_err(|error| error.to_string())?;
    let packed = packed.finish().map_err(|error| error.to_string())?;
    match text.len() as u64 > FOLDERS_TEXT_MAX || packed.len() > FOLDERS_BYTES_MAX {
        true => Err(format!("{} bytes, packed {}: too much to be sent", text.len(), packed.len())),
        false => Ok(packed),
    }
}

fn unpacked(bytes: &[u8]) -> Result<Folders, String> {
    let mut text = Vec::new();
    let read = GzDecoder::new(bytes).take(FOLDERS_TEXT_MAX + 1).read_to_end(&mut text);
    read.map_err(|error| format!("the workload's files cannot be unpacked: {error}"))?;
    if text.len() as u64 > FOLDERS_TEXT_MAX {
        return Err(format!("the workload's files unpack to more than {FOLDERS_TEXT_MAX} bytes"));
    }
    serde_json::from_slice(&text).map_err(|error| format!("the workload's files cannot be taken: {error}"))
}

/// What an agent has been sent by the leader that has reserved it.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    coming: Pieces,
    /// The last folders that are whole, and their checksum.
    whole: Option<(String, Folders)>,
}

impl Arrived {
    /// Takes a piece.
    ///
    /// # Errors
    /// It is none, or all together are no folders; in words.
    pub(crate) fn take(&mut self, piece: Piece, bytes: &[u8]) -> Result<(), String> {
        if self.whole.as_ref().is_some_and(|(sum, _)| *sum == piece.sum) {
            // Sent again, because the answer was lost.
            return Ok(());
        }
        if let Some(whole) = self.coming.take(piece, bytes, FOLDERS_BYTES_MAX)? {
            self.whole = Some((sum(&whole), unpacked(&whole)?));
        }
        Ok(())
    }

    /// The folders with this checksum; none where an order names none.
    ///
    /// # Errors
    /// They have not arrived, in words.
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

    fn give(arrived: &mut Arrived, bytes: &[u8]) -> Result<(), String> {
        pieces(bytes).try_for_each(|(piece, part)| arrived.take(piece, part))
    }

    #[test]
    fn folders_arrive_as_they_were_sent() {
        // Letters that do not pack well, so that there are several pieces.
        let text: String = (0..12_000u32).map(|at| sum(&at.to_le_bytes())).collect();
        let sent = folders(&text);
        let bytes = packed(&sent).unwrap();
        assert!(pieces(&bytes).count() > 1);
        let mut arrived = Arrived::default();
        let own_sum = sum(&bytes);
        assert!(arrived.get(Some(&own_sum)).unwrap_err().contains("not arrived"));
        give(&mut arrived, &bytes).unwrap();
        assert_eq!(arrived.get(Some(&own_sum)), Ok(sent));
        give(&mut arrived, &bytes).unwrap();
        assert_eq!(arrived.get(None), Ok(Folders::default()));
        let next = folders("another");
        give(&mut arrived, &packed(&next).unwrap()).unwrap();
        assert_eq!(arrived.get(Some(&sum(&packed(&next).unwrap()))), Ok(next));
        assert!(arrived.get(Some(&own_sum)).is_err(), "only the last ones are there");
    }

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn what_leads_elsewhere_or_grows_without_end_is_refused() {
        let mut arrived = Arrived::default();
        for name in ["../.bashrc", "/etc/cron.d/x", "a/../../b"] {
            let text = serde_json::json!({ "shop": { name: "x" } }).to_string();
            let why = give(&mut arrived, &gz(text.as_bytes())).unwrap_err();
            assert!(why.contains("no name of a file"), "{why}");
        }
        let bomb = gz(&vec![b' '; FOLDERS_TEXT_MAX as usize + 1]);
        assert!(bomb.len() < 1 << 20);
        assert!(give(&mut arrived, &bomb).unwrap_err().contains("unpack to more than"));
        assert!(give(&mut arrived, b"no gzip").unwrap_err().contains("cannot be unpacked"));
        assert!(give(&mut arrived, &gz(b"[1]")).unwrap_err().contains("cannot be taken"));
        assert!(arrived.whole.is_none());
    }
}
