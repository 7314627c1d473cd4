//! Compresses and decompresses records.
//!
//! The format is zlib, because other tools can read it: `zlib.decompress` in Python, and
//! `SELECT sqlar_uncompress(packed, json_bytes) FROM record` in the `sqlite3` shell.

use std::fmt;
use std::io::Read;

use flate2::read::ZlibDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use libdeflater::CompressionLvl;

use crate::json::{RECORD_BYTES_MAX, RecordError};

/// Records up to this length in bytes occur in thousands, so time matters. libdeflate is fastest for whole small texts: half
/// the time of flate2 for a record of 2 KB, with a result that is 2 % smaller.
const SMALL_BYTES_MAX: usize = 16 << 10;

/// libdeflate's lowest level that compresses.
const SMALL_LEVEL: i32 = 1;

/// Compresses texts one after another. It keeps its tables: creating them takes longer than compressing a small record.
pub(super) struct Compressor {
    small: libdeflater::Compressor,
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    pub(super) fn new() -> Self {
        let level = CompressionLvl::new(SMALL_LEVEL).expect("libdeflate has this level");
        Self { small: libdeflater::Compressor::new(level) }
    }

    /// Compresses the JSON of a record.
    pub(super) fn pack(&mut self, json: &str) -> Vec<u8> {
        if json.len() > SMALL_BYTES_MAX {
            return pack(json);
        }
        let mut packed = vec![0; self.small.zlib_compress_bound(json.len())];
        let length = self.small.zlib_compress(json.as_bytes(), &mut packed);
        packed.truncate(length.expect("there is room for every text of this length"));
        packed.shrink_to_fit();
        packed
    }
}

/// Compresses the JSON of a single record.
pub(super) fn pack(json: &str) -> Vec<u8> {
    compress(&mut Compress::new(Compression::default(), true), json.as_bytes())
}

fn compress(stream: &mut Compress, bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(bytes.len() / 2 + 64);
    loop {
        let rest = &bytes[usize::try_from(stream.total_in()).unwrap_or(usize::MAX)..];
        let status = stream.compress_vec(rest, &mut packed, FlushCompress::Finish);
        if status.expect("compressing does not fail") == Status::StreamEnd {
            packed.shrink_to_fit();
            return packed;
        }
        packed.reserve(bytes.len() / 4 + 64);
    }
}

/// Decompresses the JSON of a record, at most [`RECORD_BYTES_MAX`] bytes.
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
    use std::io::Write;

    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pack_and_unpack_round_trip(texts in proptest::collection::vec((".{0,2000}", 1usize..40), 1..4)) {
            let mut compressor = Compressor::new();
            for (text, times) in texts {
                let text = text.repeat(times);
                prop_assert_eq!(&unpack(&pack(&text)).unwrap(), &text);
                prop_assert_eq!(&unpack(&compressor.pack(&text)).unwrap(), &text);
            }
        }

        #[test]
        fn unpack_never_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = unpack(&bytes);
        }
    }

    #[test]
    fn packed_text_is_valid_zlib() {
        let mut compressor = Compressor::new();
        for text in ["", "{\"id\":\"äöü\"}", &"0123456789 and more ".repeat(2_000)] {
            let packed = compressor.pack(text);
            // RFC 1950: deflate with a window of up to 32 KiB, and a header that 31 divides.
            assert!(packed[0] & 0x0f == 8, "{packed:?}");
            assert!(packed[0] >> 4 <= 7, "{packed:?}");
            assert_eq!((u32::from(packed[0]) << 8 | u32::from(packed[1])) % 31, 0);
            let sum = packed[packed.len() - 4..].iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
            assert_eq!(sum, adler32(text.as_bytes()));
        }
    }

    #[test]
    fn small_record_packs_to_half_its_length_or_less() {
        let json = crate::sample::full().to_json().unwrap();
        assert!(json.len() < SMALL_BYTES_MAX);
        let packed = Compressor::new().pack(&json).len();
        assert!(packed <= json.len() / 2, "{packed} of {} bytes", json.len());
    }

    fn adler32(bytes: &[u8]) -> u32 {
        let (a, b) = bytes.iter().fold((1, 0), |(a, b), &byte| {
            let a = (a + u32::from(byte)) % 65_521;
            (a, (b + a) % 65_521)
        });
        b << 16 | a
    }

    #[test]
    fn compressed_record_that_unpacks_too_large_is_refused() {
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
