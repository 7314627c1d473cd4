//! Reads the reports in a file: with a size limit, unpacked, decoded, and separated.

mod decode;
mod split;
mod spool;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use flate2::read::MultiGzDecoder;

pub(crate) use decode::decode;
pub(crate) use split::{ReportText, split};
pub(crate) use spool::{CutLines, expand_tabs, rejoin};

/// Most bytes of a file that are read, also after unpacking. It is ten times the longest cluster
/// reports, and enough for a day of them in one file.
pub const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Factor by which a packed file may grow. Reports shrink to a tenth; a file that grows a
/// thousandfold is made to fill memory.
const GROWTH_MAX: u64 = 100;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The file system returned an error.
    #[error("it cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It is longer than the limit.
    #[error("it has more than {} MiB; cut it into its reports", FILE_BYTES_MAX / 1024 / 1024)]
    TooLong,
    /// It unpacks to more than a packed report would.
    #[error(
        "it decompresses to more than {GROWTH_MAX} times its size; decompress it by hand if it is a report"
    )]
    Bomb,
    /// It is packed, but corrupt.
    #[error("it is compressed and cannot be decompressed: {0}")]
    Gzip(std::io::Error),
    /// It is binary data and not text.
    #[error("it is not text")]
    Binary,
}

/// The first bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file, unpacked if they are packed, regardless of the file's name.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, InputError> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > FILE_BYTES_MAX {
        return Err(InputError::TooLong);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // Only a regular file has a known size.
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(InputError::TooLong);
    }
    if bytes.starts_with(&GZIP_MAGIC) { unpack(&bytes) } else { Ok(bytes) }
}

/// Bytes at a file's start that must contain its title.
const START: u64 = 65_536;

/// The bytes at the start of a file, unpacked if they are packed.
pub(crate) fn start(path: &Path) -> Result<Vec<u8>, InputError> {
    let mut packed = Vec::new();
    File::open(path)?.take(START).read_to_end(&mut packed)?;
    if !packed.starts_with(&GZIP_MAGIC) {
        return Ok(packed);
    }
    let mut bytes = Vec::new();
    // A truncated file ends with an error; what was read before it is the start.
    let _ = MultiGzDecoder::new(packed.as_slice()).take(START).read_to_end(&mut bytes);
    Ok(bytes)
}

/// Lower bound of the limit for unpacked bytes: short files may well shrink a hundredfold.
const UNPACKED_MIN: u64 = 4 * 1024 * 1024;

fn unpack(packed: &[u8]) -> Result<Vec<u8>, InputError> {
    let limit = (packed.len() as u64 * GROWTH_MAX).clamp(UNPACKED_MIN, FILE_BYTES_MAX);
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed).take(limit + 1).read_to_end(&mut bytes).map_err(InputError::Gzip)?;
    match bytes.len() as u64 {
        length if length <= limit => Ok(bytes),
        _ if limit == FILE_BYTES_MAX => Err(InputError::TooLong),
        _ => Err(InputError::Bomb),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_reports_are_unpacked_regardless_of_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.txt");
        std::fs::write(&path, packed(b"STATSPACK report for")).unwrap();
        assert_eq!(bytes(&path).unwrap(), b"STATSPACK report for");
    }

    #[test]
    fn decompression_bomb_is_refused() {
        let bomb = packed(&vec![b' '; 64 * 1024 * 1024]);
        assert!(bomb.len() < 200_000, "{}", bomb.len());
        assert!(matches!(unpack(&bomb), Err(InputError::Bomb)));
        assert!(matches!(unpack(&[0x1f, 0x8b, 8, 0]), Err(InputError::Gzip(_))));
    }
}
