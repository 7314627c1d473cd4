//! Compression of records.
//!
//! Zlib, because it is what others open without us: `zlib.decompress` in Python, and
//! `SELECT sqlar_uncompress(packed, json_bytes) FROM record` in the `sqlite3` shell.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::json::{RECORD_BYTES_MAX, RecordError};

/// A record's JSON, compressed.
pub(super) fn pack(json: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json.as_bytes()).expect("writing into memory does not fail");
    encoder.finish().expect("writing into memory does not fail")
}

/// A record's JSON from its compressed form; never more than [`RECORD_BYTES_MAX`] is unpacked.
pub(super) fn unpack(packed: &[u8]) -> Result<String, RecordError> {
    let mut json = Vec::new();
    let malformed = |detail: String| RecordError::Malformed { detail };
    ZlibDecoder::new(packed)
        .take(RECORD_BYTES_MAX + 1)
        .read_to_end(&mut json)
        .map_err(|e| malformed(format!("it does not unpack: {e}")))?;
    if json.len() as u64 > RECORD_BYTES_MAX {
        return Err(RecordError::TooLarge { bytes: json.len() as u64 });
    }
    String::from_utf8(json).map_err(|e| malformed(format!("it is not UTF-8: {e}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packing_is_undone_by_unpacking(text in ".{0,2000}") {
            prop_assert_eq!(unpack(&pack(&text)).unwrap(), text);
        }

        #[test]
        fn no_bytes_make_unpacking_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = unpack(&bytes);
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let zeros = vec![b' '; 1 << 20];
        for _ in 0..=(RECORD_BYTES_MAX >> 20) {
            encoder.write_all(&zeros).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() < 4 << 20);
        assert!(matches!(unpack(&bomb), Err(RecordError::TooLarge { .. })));
    }
}
