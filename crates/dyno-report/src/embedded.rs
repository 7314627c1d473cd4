//! Whole records inside a report, and out of it again.
//!
//! A report must be able to answer every question later, so it carries what it was made of: as plain JSON where that is
//! short, else as JSON lines, compressed with zlib, in base64. The element's content can hold no `<`, so nothing in a
//! record ends it early.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use dyno_analyze::Conclusion;
use dyno_record::{RECORD_BYTES_MAX, RecordError, RunRecord, SCHEMA_VERSION};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::Deserialize;

/// What stands in front of the records in a page.
pub(crate) const OPEN: &str = "<script type=\"application/json\" id=\"dyno-records\">";

/// What stands behind them.
pub(crate) const CLOSE: &str = "</script>";

/// The version of the wrapping.
const VERSION: u32 = 1;

/// Records that are larger together are compressed, in bytes of JSON.
const PLAIN_BYTES_MAX: usize = 300_000;

/// Largest unpacked size that is read: 4 GiB.
const UNPACKED_BYTES_MAX: u64 = 4 << 30;

/// Records that cannot be taken out of a page.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// It is another page, or its records were cut out.
    #[error("there are no run records in this page: it is no report of Dyno, or it was saved without them")]
    NoRecords,
    /// The page was written by another version.
    #[error("the page holds its records in version {found} of the format; this program reads {VERSION}")]
    Version {
        /// The version it names.
        found: u32,
    },
    /// What is there is damaged.
    #[error("the records in this page are damaged: {0}")]
    Damaged(String),
    /// One record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// What is around the records, as it is read.
#[derive(Deserialize)]
struct Wrapped<R> {
    version: u32,
    count: usize,
    records: Option<Vec<R>>,
    data: Option<String>,
}

/// Only a record's version, so that a newer one is told from a damaged page.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

/// The element that holds `records`.
///
/// # Errors
/// A record cannot be written as JSON.
pub(crate) fn element(records: &[RunRecord], conclusions: &[Conclusion]) -> Result<String, RecordError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let (mut plain, mut bytes) = (Vec::new(), 0);
    for record in records {
        let json =
            serde_json::to_string(record).map_err(|e| RecordError::Malformed { detail: e.to_string() })?;
        bytes += json.len();
        encoder.write_all(json.as_bytes()).expect("writing into memory does not fail");
        encoder.write_all(b"\n").expect("writing into memory does not fail");
        if bytes <= PLAIN_BYTES_MAX {
            plain.push(json);
        }
    }
    let content = if bytes <= PLAIN_BYTES_MAX {
        format!("\"encoding\":\"plain\",\"records\":[{}]", escape_json(&plain.join(",\n")))
    } else {
        let packed = encoder.finish().expect("writing into memory does not fail");
        format!("\"encoding\":\"zlib+base64\",\"data\":\"{}\"", BASE64.encode(packed))
    };
    let mut head = format!("\"format\":\"dyno-records\",\"version\":{VERSION},\"count\":{}", records.len());
    if !conclusions.is_empty() {
        let json = serde_json::to_string(conclusions)
            .map_err(|e| RecordError::Malformed { detail: e.to_string() })?;
        head.push_str(&format!(",\"conclusions\":{}", escape_json(&json)));
    }
    Ok(format!("{OPEN}{{{head},{content}}}{CLOSE}"))
}

/// JSON that cannot end a script element or open a comment: these characters only occur inside its strings.
fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

/// The records in a report's HTML.
///
/// # Errors
/// The page holds none, or they are damaged or of another version.
pub fn records(html: &str) -> Result<Vec<RunRecord>, EmbeddedError> {
    // All text of users is escaped, so the mark cannot be in it.
    let (_, rest) = html.split_once(OPEN).ok_or(EmbeddedError::NoRecords)?;
    let (content, _) =
        rest.split_once(CLOSE).ok_or_else(|| EmbeddedError::Damaged("they are cut off".into()))?;
    let damaged = |e: &dyn std::fmt::Display| EmbeddedError::Damaged(e.to_string());
    let heads: Wrapped<Version> = serde_json::from_str(content).map_err(|e| damaged(&e))?;
    if heads.version != VERSION {
        return Err(EmbeddedError::Version { found: heads.version });
    }
    let versions = heads.records.iter().flatten().map(|head| head.schema_version);
    if let Some(found) = versions.into_iter().find(|&version| version != SCHEMA_VERSION) {
        return Err(RecordError::Version { found: found.into() }.into());
    }
    let wrapped: Wrapped<RunRecord> = serde_json::from_str(content).map_err(|e| damaged(&e))?;
    let records = match (wrapped.records, wrapped.data) {
        (Some(records), _) => records,
        (None, Some(data)) => unpack(&data)?,
        (None, None) => return Err(EmbeddedError::NoRecords),
    };
    if records.len() != wrapped.count {
        let text = format!("there are {} of {}", records.len(), wrapped.count);
        return Err(EmbeddedError::Damaged(text));
    }
    Ok(records)
}

fn unpack(data: &str) -> Result<Vec<RunRecord>, EmbeddedError> {
    let damaged = |e: &dyn std::fmt::Display| EmbeddedError::Damaged(e.to_string());
    let packed = BASE64.decode(data).map_err(|e| damaged(&e))?;
    let mut lines = BufReader::new(ZlibDecoder::new(packed.as_slice()).take(UNPACKED_BYTES_MAX));
    let mut records = Vec::new();
    loop {
        let mut line = String::new();
        let read = lines.by_ref().take(RECORD_BYTES_MAX + 1).read_line(&mut line).map_err(|e| damaged(&e))?;
        if read == 0 {
            return Ok(records);
        }
        records.push(RunRecord::from_json(line.trim_end())?);
    }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;

    use super::*;

    fn hostile(count: usize) -> Vec<RunRecord> {
        let record = |i: usize| {
            let mut record = fixture::postgres();
            record.id = format!("run-{i}");
            record.reasons = vec!["</script><script>alert(1)</script> <!-- \u{2028} & \" ' \\".into()];
            record
        };
        (0..count).map(record).collect()
    }

    #[test]
    fn records_come_out_as_they_went_in() {
        for count in [0, 1, 40] {
            let written = hostile(count);
            let element = element(&written, &[]).unwrap();
            assert_eq!(element.matches("</script>").count(), 1);
            assert_eq!(element.contains("zlib+base64"), count == 40, "{count}");
            let page = format!("<!doctype html><p>x</p>{element}</body>");
            assert_eq!(records(&page).unwrap(), written);
        }
    }

    #[test]
    fn other_pages_and_damaged_ones_say_so() {
        assert!(matches!(records("<html></html>"), Err(EmbeddedError::NoRecords)));
        let good = element(&hostile(40), &[]).unwrap();
        let cut = &good[..good.len() / 2];
        assert!(matches!(records(cut), Err(EmbeddedError::Damaged(_))));
        let newer = good.replace("\"version\":1", "\"version\":9");
        assert!(matches!(records(&newer), Err(EmbeddedError::Version { found: 9 })));
        let fewer = good.replace("\"count\":40", "\"count\":41");
        assert!(matches!(records(&fewer), Err(EmbeddedError::Damaged(_))));
    }
}
