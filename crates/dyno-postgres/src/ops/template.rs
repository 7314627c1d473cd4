//! Messages that are built once and patched for each operation.

use super::encode::int8;
use crate::wire::message;

/// What stands behind Execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Sync: the answer comes in one piece.
    Sync,
    /// Flush, then Sync: the statement's end comes before its commit.
    FlushSync,
}

/// Bind, Execute and Sync of one prepared statement, with its parameters in binary.
#[derive(Debug)]
pub(super) struct Template {
    bytes: Vec<u8>,
    /// Where the values of `$1`, `$2`, … begin.
    slots: Vec<usize>,
    widths: Vec<usize>,
}

impl Template {
    /// A template for the statement `name` whose parameters have these widths in bytes, behind the messages in `bytes`.
    pub(super) fn new(mut bytes: Vec<u8>, name: &str, widths: &[usize], ending: Ending) -> Self {
        let mut slots = Vec::new();
        message::message(&mut bytes, b'B', |out| {
            out.push(0);
            message::text(out, name);
            // One format code for all parameters: 1 is binary.
            message::count(out, 1);
            message::count(out, 1);
            message::count(out, widths.len());
            for &width in widths {
                out.extend_from_slice(&u32::try_from(width).expect("values of some bytes").to_be_bytes());
                slots.push(out.len());
                out.resize(out.len() + width, 0);
            }
            message::count(out, 1);
            message::count(out, 1);
        });
        message::execute(&mut bytes);
        if ending == Ending::FlushSync {
            message::flush(&mut bytes);
        }
        message::sync(&mut bytes);
        Self { bytes, slots, widths: widths.to_vec() }
    }

    /// Sync alone, which the server answers and does nothing for.
    pub(super) fn sync() -> Self {
        let mut bytes = Vec::new();
        message::sync(&mut bytes);
        Self { bytes, slots: Vec::new(), widths: Vec::new() }
    }

    /// Sets parameter `index` (from 0) to a number.
    #[inline]
    pub(super) fn set_int8(&mut self, index: usize, value: u64) {
        let at = self.slots[index];
        self.bytes[at..at + 8].copy_from_slice(&int8(value));
    }

    /// Sets parameter `index` (from 0) to a text of exactly its width.
    #[inline]
    pub(super) fn set_text(&mut self, index: usize, value: &[u8]) {
        let (at, width) = (self.slots[index], self.widths[index]);
        self.bytes[at..at + width].copy_from_slice(value);
    }

    /// The messages as they go over the wire.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_land_in_their_slots() {
        let mut template = Template::new(Vec::new(), "u", &[8, 4], Ending::FlushSync);
        template.set_int8(0, 7);
        template.set_text(1, b"abcd");
        let bind =
            b"B\0\0\0\x25\0u\0\0\x01\0\x01\0\x02\0\0\0\x08\0\0\0\0\0\0\0\x07\0\0\0\x04abcd\0\x01\0\x01";
        let rest = b"E\0\0\0\x09\0\0\0\0\0H\0\0\0\x04S\0\0\0\x04";
        assert_eq!(template.bytes(), [bind.as_slice(), rest].concat());
    }
}
