//! Packs and unpacks the results that an agent hands in, with a limit on the unpacked size.

use std::io::{Read, Write};

use dyno_drive::ResultShape;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::limits::{HANDED_BYTES_MAX, SESSION_BYTES_MAX};
use crate::messages::AgentResults;

/// Packs results into bytes.
///
/// # Errors
/// Packing fails; this does not happen in memory.
pub(crate) fn pack_results(handed: &AgentResults) -> std::io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut packed, handed)?;
    packed.flush()?;
    packed.finish()
}

/// Unpacks the results of a host that has `sessions` sessions.
///
/// # Errors
/// The bytes are not results, or do not belong to such a run; the text says why.
pub(crate) fn unpack_results(
    bytes: &[u8],
    shape: &ResultShape,
    sessions: usize,
) -> Result<AgentResults, String> {
    let most = 4 * HANDED_BYTES_MAX + sessions * SESSION_BYTES_MAX;
    let mut text = Vec::new();
    let read = GzDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut text);
    read.map_err(|error| format!("it cannot be unpacked: {error}"))?;
    if text.len() > most {
        return Err(format!("it unpacks to more than {most} bytes"));
    }
    let handed: AgentResults =
        serde_json::from_slice(&text).map_err(|error| format!("it cannot be read: {error}"))?;
    handed.results.check(shape, sessions)?;
    if handed.broken_off.len() > sessions || handed.stuck.len() > 64 {
        return Err("more aborted sessions than it has".to_owned());
    }
    Ok(handed)
}
