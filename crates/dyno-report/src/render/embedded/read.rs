//! Reads records from a page one at a time: together they may not fit into memory.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use base64::engine::general_purpose::STANDARD as BASE64;
use base64::read::DecoderReader;
use dyno_analyze::Conclusion;
use dyno_record::{RECORD_BYTES_MAX, RecordError, RunRecord, SCHEMA_VERSION};
use flate2::read::ZlibDecoder;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{EmbeddedError, OPEN, PACKED, VERSION};

/// Maximum unpacked size: 4 GiB.
const UNPACKED_BYTES_MAX: u64 = 4 << 30;

/// Maximum size of unpacked content.
const PLAIN_BYTES_MAX: u64 = RECORD_BYTES_MAX;

/// Packed records must begin within this number of bytes; the conclusions precede them.
const HEAD_BYTES_MAX: usize = 64 << 20;

/// The JSON before packed records.
#[derive(Deserialize)]
struct Head {
    version: u32,
    count: usize,
    #[serde(default)]
    conclusions: Vec<serde_json::Value>,
}

/// What was read besides the records.
#[derive(Debug, Default)]
pub struct Embedded {
    /// Number of records that were read.
    pub count: usize,
    /// Conclusions of the commands that made the runs.
    pub conclusions: Vec<Conclusion>,
    /// Number of conclusions that cannot be read; the records are complete without them.
    pub unread: usize,
}

impl Embedded {
    fn new(count: usize, conclusions: Vec<serde_json::Value>) -> Self {
        let all = conclusions.len();
        let conclusions: Vec<Conclusion> =
            conclusions.into_iter().filter_map(|value| Conclusion::from_json(value).ok()).collect();
        Self { count, unread: all - conclusions.len(), conclusions }
    }
}

/// Reads the records in a report's HTML.
///
/// # Errors
/// The page contains none, or they are damaged or of another version.
pub fn records(html: &str) -> Result<Vec<RunRecord>, EmbeddedError> {
    let mut records = Vec::new();
    each(html.as_bytes(), |record| {
        records.push(record);
        Ok::<(), EmbeddedError>(())
    })?;
    Ok(records)
}

/// Passes each record in a report's HTML to `take`, and returns the number of records and the conclusions.
/// Only one record is in memory at a time.
///
/// # Errors
/// The page contains none, or they are damaged or of another version; records passed before the error must be
/// discarded. Also errors of `take`.
pub fn each<E: From<EmbeddedError>>(
    mut page: impl BufRead,
    mut take: impl FnMut(RunRecord) -> Result<(), E>,
) -> Result<Embedded, E> {
    if !skip_past(&mut page, OPEN.as_bytes()).map_err(damaged)? {
        return Err(EmbeddedError::NoRecords.into());
    }
    let mut content = Content { page, is_at_end: false };
    let mut head = Vec::new();
    let is_packed = head_of(&mut content, &mut head).map_err(damaged)?;
    let mut count = 0;
    let mut counted = |record: RunRecord| {
        count += 1;
        take(record)
    };
    let embedded = match is_packed {
        true => read_packed(&head, &mut content, &mut counted)?,
        false => read_plain(head.chain(&mut content).take(PLAIN_BYTES_MAX), &mut counted)?,
    };
    if !content.is_at_end {
        return Err(EmbeddedError::Damaged("the page ends too early".into()).into());
    }
    if count != embedded.count {
        return Err(EmbeddedError::Damaged(format!("there are {count} of {}", embedded.count)).into());
    }
    Ok(embedded)
}

fn damaged(error: impl fmt::Display) -> EmbeddedError {
    EmbeddedError::Damaged(error.to_string())
}

/// Reads up to the end of `mark`; false if the input ends first. The first byte of `mark` must not occur in
/// it again.
fn skip_past(page: &mut impl BufRead, mark: &[u8]) -> io::Result<bool> {
    let mut matched = 0;
    loop {
        let buffer = page.fill_buf()?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let mut used = 0;
        for &byte in buffer {
            used += 1;
            matched = if byte == mark[matched] { matched + 1 } else { usize::from(byte == mark[0]) };
            if matched == mark.len() {
                break;
            }
        }
        page.consume(used);
        if matched == mark.len() {
            return Ok(true);
        }
    }
}

/// The element's content, which ends at the first `<`.
struct Content<R> {
    page: R,
    /// Whether the end of the element was reached.
    is_at_end: bool,
}

impl<R: BufRead> Read for Content<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let buffer = self.fill_buf()?;
        let read = buffer.len().min(out.len());
        out[..read].copy_from_slice(&buffer[..read]);
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Content<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let buffer = self.page.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'<').unwrap_or(buffer.len());
        self.is_at_end |= end < buffer.len();
        Ok(&buffer[..end])
    }

    fn consume(&mut self, used: usize) {
        self.page.consume(used);
    }
}

/// Reads the head and returns whether packed records follow. If not, `head` contains all content read so far.
fn head_of(content: &mut impl BufRead, head: &mut Vec<u8>) -> io::Result<bool> {
    while head.len() < HEAD_BYTES_MAX {
        // The mark ends with a quotation mark, so it may end at any of them.
        if content.take((HEAD_BYTES_MAX - head.len()) as u64).read_until(b'"', head)? == 0 {
            return Ok(false);
        }
        if head.ends_with(PACKED.as_bytes()) {
            head.truncate(head.len() - PACKED.len());
            return Ok(true);
        }
        if head.ends_with(b"\"encoding\":\"plain\"") {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Reads compressed JSON lines in base64; returns the expected number of records, and the conclusions.
fn read_packed<E: From<EmbeddedError>>(
    head: &[u8],
    content: &mut impl BufRead,
    take: &mut impl FnMut(RunRecord) -> Result<(), E>,
) -> Result<Embedded, E> {
    let end = b"\"encoding\":\"zlib+base64\"}";
    let head: Head = serde_json::from_slice(&[head, end].concat()).map_err(damaged)?;
    if head.version != VERSION {
        return Err(EmbeddedError::Version { found: head.version }.into());
    }
    let base64 = DecoderReader::new(Quoted { content, is_at_end: false }, &BASE64);
    let mut lines = BufReader::new(ZlibDecoder::new(base64).take(UNPACKED_BYTES_MAX));
    let mut line = String::new();
    loop {
        line.clear();
        let read = lines.by_ref().take(RECORD_BYTES_MAX + 1).read_line(&mut line).map_err(damaged)?;
        if read == 0 {
            break;
        }
        take(RunRecord::from_json(line.trim_end()).map_err(EmbeddedError::from)?)?;
    }
    // The string and the object must end as well.
    io::copy(lines.get_mut().get_mut().get_mut(), &mut io::sink()).map_err(damaged)?;
    Ok(Embedded::new(head.count, head.conclusions))
}

/// Reads content up to the next quotation mark and discards the rest.
struct Quoted<R> {
    content: R,
    is_at_end: bool,
}

impl<R: BufRead> Read for Quoted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.is_at_end {
            io::copy(&mut self.content, &mut io::sink())?;
            return Ok(0);
        }
        let buffer = self.content.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'"');
        let read = end.unwrap_or(buffer.len()).min(out.len());
        out[..read].copy_from_slice(&buffer[..read]);
        self.is_at_end = end == Some(read);
        self.content.consume(read);
        match read == 0 && self.is_at_end {
            true => self.read(out),
            false => Ok(read),
        }
    }
}

/// Reads a JSON array of records; returns the expected number of records, and the conclusions.
fn read_plain<E: From<EmbeddedError>>(
    content: impl Read,
    take: &mut impl FnMut(RunRecord) -> Result<(), E>,
) -> Result<Embedded, E> {
    let mut stopped = None;
    let mut reader = serde_json::Deserializer::from_reader(BufReader::new(content));
    let wrapped = Wrapped { take, stopped: &mut stopped }.deserialize(&mut reader);
    let parsed = wrapped.and_then(|read| reader.end().map(|()| read));
    // An error of `take` is the cause, whatever the reader reports.
    if let Some(error) = stopped {
        return Err(error);
    }
    parsed.map_err(damaged)?.ok_or_else(|| EmbeddedError::NoRecords.into())
}

/// The object around an array of records.
struct Wrapped<'t, T, E> {
    take: &'t mut T,
    stopped: &'t mut Option<E>,
}

impl<'de, T: FnMut(RunRecord) -> Result<(), E>, E: From<EmbeddedError>> DeserializeSeed<'de>
    for Wrapped<'_, T, E>
{
    type Value = Option<Embedded>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<Embedded>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, T: FnMut(RunRecord) -> Result<(), E>, E: From<EmbeddedError>> Visitor<'de> for Wrapped<'_, T, E> {
    type Value = Option<Embedded>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("records of Dyno")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Embedded>, A::Error> {
        let (mut count, mut version, mut is_there) = (None, None, false);
        let mut conclusions = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "count" => count = Some(map.next_value()?),
                "conclusions" => conclusions = map.next_value()?,
                "version" => {
                    let page_version = map.next_value()?;
                    if page_version != VERSION {
                        *self.stopped = Some(EmbeddedError::Version { found: page_version }.into());
                        return Err(A::Error::custom("another version"));
                    }
                    version = Some(page_version);
                }
                "records" => {
                    is_there = true;
                    map.next_value_seed(Array { take: &mut *self.take, stopped: &mut *self.stopped })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        version.ok_or_else(|| A::Error::missing_field("version"))?;
        let count = count.ok_or_else(|| A::Error::missing_field("count"))?;
        Ok(is_there.then(|| Embedded::new(count, conclusions)))
    }
}

struct Array<'t, T, E> {
    take: &'t mut T,
    stopped: &'t mut Option<E>,
}

impl<'de, T: FnMut(RunRecord) -> Result<(), E>, E: From<EmbeddedError>> DeserializeSeed<'de>
    for Array<'_, T, E>
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, T: FnMut(RunRecord) -> Result<(), E>, E: From<EmbeddedError>> Visitor<'de> for Array<'_, T, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(value) = seq.next_element::<serde_json::Value>()? {
            // Distinguishes a newer record from a damaged page.
            let outcome = match value.get("schema_version").and_then(serde_json::Value::as_u64) {
                Some(found) if found != u64::from(SCHEMA_VERSION) => {
                    Err(EmbeddedError::from(RecordError::Version { found }).into())
                }
                _ => {
                    let record = serde_json::from_value(value).map_err(|error| damaged(error).into());
                    record.and_then(|record| (self.take)(record))
                }
            };
            if let Err(error) = outcome {
                *self.stopped = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
