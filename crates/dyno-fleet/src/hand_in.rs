//! What an agent hands in: packed, with a limit on what it unpacks to.

use std::io::{Read, Write};

use dyno_drive::Shape;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::limits::{HANDED_BYTES_MAX, SESSION_BYTES_MAX};
use crate::messages::HandedIn;

/// As packed bytes.
///
/// # Errors
/// It cannot be written, which memory can.
pub(crate) fn packed(handed: &HandedIn) -> std::io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut packed, handed)?;
    packed.flush()?;
    packed.finish()
}

/// What came as packed bytes from a host of so many sessions.
///
/// # Errors
/// It is none, or not of such a run; in words.
pub(crate) fn unpacked(bytes: &[u8], shape: &Shape, sessions: usize) -> Result<HandedIn, String> {
    let most = 4 * HANDED_BYTES_MAX + sessions * SESSION_BYTES_MAX;
    let mut text = Vec::new();
    let read = GzDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut text);
    read.map_err(|error| format!("it cannot be unpacked: {error}"))?;
    if text.len() > most {
        return Err(format!("it unpacks to more than {most} bytes"));
    }
    let handed: HandedIn =
        serde_json::from_slice(&text).map_err(|error| format!("it cannot be read: {error}"))?;
    handed.results.check(shape, sessions)?;
    if handed.broken_off.len() > sessions || handed.stuck.len() > 64 {
        return Err("more sessions broken off than it has".to_owned());
    }
    Ok(handed)
}
