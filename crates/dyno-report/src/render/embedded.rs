//! Writes whole records into a report and reads them back.
//!
//! A report carries the records it was made from, so that later questions can be answered. Short data is
//! plain JSON; longer data is JSON lines, compressed with zlib, in base64. The element's content cannot
//! contain `<`, so no record can end it early.

mod read;

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use dyno_record::RecordError;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::content::report::Report;
use crate::content::runs::{RunsError, json};

pub use read::{Embedded, each, records};

/// Markup before the records in a page.
pub(crate) const OPEN: &str = "<script type=\"application/json\" id=\"dyno-records\">";

pub(crate) const CLOSE: &str = "</script>";

/// Text between the head and packed records. Inside a string its quotation marks would be escaped.
const PACKED: &str = "\"encoding\":\"zlib+base64\",\"data\":\"";

/// Version of this embedding format.
const VERSION: u32 = 1;

/// Records above this total size are compressed, in bytes of JSON.
const PLAIN_BYTES_MAX: usize = 300_000;

/// Errors of reading records from a page.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The page is not a report, or its records were removed.
    #[error("the page contains no run records: it is not a Dyno report, or it was saved without them")]
    NoRecords,
    /// The page was written by another version.
    #[error("the page contains records of format version {found}; this program reads version {VERSION}")]
    Version { found: u32 },
    /// The embedded data is damaged.
    #[error("the records in this page are damaged: {0}")]
    Damaged(String),
    /// One record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Writes the element that contains the records of a report's runs, one after the other.
///
/// # Errors
/// A run cannot be read, or the element cannot be written.
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> Result<(), RunsError> {
    write!(out, "{OPEN}{{\"format\":\"dyno-records\",\"version\":{VERSION},\"count\":{}", report.seen.runs)?;
    if !report.conclusions.is_empty() {
        let json = serde_json::to_string(&report.conclusions)
            .map_err(|e| RecordError::Malformed { detail: e.to_string() })?;
        write!(out, ",\"conclusions\":{}", escape_json(&json))?;
    }
    let (mut plain, mut bytes) = (Vec::new(), 0);
    let mut packed: Option<ZlibEncoder<Vec<u8>>> = None;
    report.each(|record| {
        let json = json(record)?;
        bytes += json.len();
        plain.push(json);
        if bytes <= PLAIN_BYTES_MAX {
            return Ok(());
        }
        let encoder = match &mut packed {
            Some(encoder) => encoder,
            None => {
                write!(out, ",{PACKED}")?;
                packed.insert(ZlibEncoder::new(Vec::new(), Compression::fast()))
            }
        };
        for json in plain.drain(..) {
            encoder.write_all(json.as_bytes())?;
            encoder.write_all(b"\n")?;
        }
        // Base64 encodes three bytes as four letters.
        let whole = encoder.get_ref().len() / 3 * 3;
        let ready: Vec<u8> = encoder.get_mut().drain(..whole).collect();
        Ok(out.write_all(BASE64.encode(ready).as_bytes())?)
    })?;
    match packed {
        Some(encoder) => write!(out, "{}\"}}", BASE64.encode(encoder.finish()?))?,
        None => {
            write!(out, ",\"encoding\":\"plain\",\"records\":[{}]}}", escape_json(&plain.join(",\n")))?;
        }
    }
    Ok(out.write_all(CLOSE.as_bytes())?)
}

/// Escapes JSON so that it cannot end a script element or open a comment: these characters occur only inside
/// strings.
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

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::RunRecord;

    use super::*;

    fn element(records: &[RunRecord]) -> String {
        let mut out = Vec::new();
        write(&Report::of(records), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn hostile(count: usize) -> Vec<RunRecord> {
        let record = |i: usize| {
            let mut record = fixture::postgres();
            record.id = format!("run-{i:03}");
            record.reasons = vec!["</script><script>alert(1)</script> <!-- \u{2028} & \" ' \\".into()];
            record
        };
        (0..count).map(record).collect()
    }

    #[test]
    fn embedded_records_round_trip() {
        for count in [0, 1, 40] {
            let written = hostile(count);
            let element = element(&written);
            assert_eq!(element.matches("</script>").count(), 1);
            assert_eq!(element.contains("zlib+base64"), count == 40, "{count}");
            let page = format!("<!doctype html><p>x</p>{element}</body>");
            assert_eq!(records(&page).unwrap(), written);
        }
    }

    #[test]
    fn pages_without_valid_records_report_the_reason() {
        assert!(matches!(records("<html></html>"), Err(EmbeddedError::NoRecords)));
        let good = element(&hostile(40));
        let cut = &good[..good.len() / 2];
        assert!(matches!(records(cut), Err(EmbeddedError::Damaged(_))));
        let newer = good.replace("\"version\":1", "\"version\":9");
        assert!(matches!(records(&newer), Err(EmbeddedError::Version { found: 9 })));
        for count in [3, 40] {
            let good = element(&hostile(count));
            let other =
                |what: &str| good.replace(&format!("\"count\":{count}"), &format!("\"count\":{what}"));
            assert!(matches!(records(&other("41")), Err(EmbeddedError::Damaged(_))));
            assert!(matches!(
                records(&good.replace(&good[good.len() - 12..], "")),
                Err(EmbeddedError::Damaged(_))
            ));
        }
        let newer = element(&hostile(2)).replace("\"schema_version\":2", "\"schema_version\":9");
        let error = records(&newer).unwrap_err();
        assert!(matches!(error, EmbeddedError::Record(RecordError::Version { found: 9 })), "{error}");
    }

    #[test]
    fn unknown_conclusion_kind_is_kept_and_malformed_one_skipped() {
        let newer = r#"{"of":"x-1","line":"l","words":[],"figures":{"kind":"of tomorrow"}}"#;
        for (count, conclusion, read_and_not) in [(2, newer, (1, 0)), (40, newer, (1, 0)), (2, "{}", (0, 1))]
        {
            let mut element = element(&hostile(count));
            let at = element.find("\"encoding\"").unwrap();
            element.insert_str(at, &format!("\"conclusions\":[{conclusion}],"));
            let read = each(element.as_bytes(), |_| Ok::<(), EmbeddedError>(())).unwrap();
            assert_eq!((read.count, (read.conclusions.len(), read.unread)), (count, read_and_not));
        }
    }

    /// Pages of any size are read, so only one record may be in memory at a time.
    #[test]
    fn embedded_records_are_read_one_at_a_time() {
        struct Counted<'p> {
            rest: &'p [u8],
            read: &'p std::cell::Cell<usize>,
        }
        impl std::io::Read for Counted<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let read = self.rest.read(buffer)?;
                self.read.set(self.read.get() + read);
                Ok(read)
            }
        }
        // Filler that does not compress, so that the position in the page shows how far reading has
        // progressed.
        let mut random = 1u64;
        let mut noise = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{random:016x}")
        };
        let mut many = hostile(400);
        many.iter_mut().for_each(|record| record.reasons = (0..200).map(|_| noise()).collect());
        let page = element(&many);
        let read = std::cell::Cell::new(0);
        let reader = std::io::BufReader::new(Counted { rest: page.as_bytes(), read: &read });
        let mut first = None;
        let count = each(reader, |record| {
            first.get_or_insert(read.get());
            assert!(record.reasons.len() == 200);
            Ok::<(), EmbeddedError>(())
        });
        assert_eq!(count.unwrap().count, 400);
        assert!(
            first.unwrap() < page.len() / 10,
            "{first:?} of {} bytes read for the first record",
            page.len()
        );
    }
}
