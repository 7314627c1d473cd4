//! Packets that are built once and patched for each operation.

use crate::wire::Prepared;
use crate::wire::message::{self, command};

/// Types of parameters: an unsigned 64-bit number, and a text (`MYSQL_TYPE_LONGLONG`, `MYSQL_TYPE_VAR_STRING`).
const NUMBER: [u8; 2] = [0x08, 0x80];
const TEXT: [u8; 2] = [0xfd, 0x00];

/// A parameter of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// A 64-bit number.
    Number,
    /// A text of exactly this many bytes.
    Text(usize),
}

/// The execution of one prepared statement, with its parameters in binary.
#[derive(Debug, Default)]
pub(super) struct Template {
    bytes: Vec<u8>,
    /// Where the values begin, and how long they are.
    slots: Vec<(usize, usize)>,
}

impl Template {
    /// A template for `statement` with these parameters.
    pub(super) fn new(statement: Prepared, parameters: &[Parameter]) -> Self {
        let mut bytes = Vec::new();
        let mut slots = Vec::new();
        message::packet(&mut bytes, 0, |out| {
            head(out, statement, parameters.iter().map(|parameter| matches!(parameter, Parameter::Number)));
            for parameter in parameters {
                let width = match *parameter {
                    Parameter::Number => 8,
                    Parameter::Text(width) => {
                        message::number(out, width as u64);
                        width
                    }
                };
                slots.push((out.len(), width));
                out.resize(out.len() + width, 0);
            }
        });
        Self { bytes, slots }
    }

    /// Sets parameter `index` (from 0) to a number.
    #[inline]
    pub(super) fn set_number(&mut self, index: usize, value: u64) {
        let (at, _) = self.slots[index];
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Sets parameter `index` (from 0) to a text of exactly its width.
    #[inline]
    pub(super) fn set_text(&mut self, index: usize, value: &[u8]) {
        let (at, width) = self.slots[index];
        self.bytes[at..at + width].copy_from_slice(value);
    }

    /// The packet as it goes over the wire.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Appends what stands before the values of an execution; `numbers` tells of each parameter whether it is a number.
pub(super) fn head(out: &mut Vec<u8>, statement: Prepared, numbers: impl ExactSizeIterator<Item = bool>) {
    debug_assert_eq!(usize::from(statement.parameters), numbers.len());
    out.push(command::STMT_EXECUTE);
    out.extend_from_slice(&statement.id.to_le_bytes());
    // No cursor, one execution.
    out.push(0);
    out.extend_from_slice(&1u32.to_le_bytes());
    if numbers.len() > 0 {
        // None is NULL; types follow.
        out.resize(out.len() + numbers.len().div_ceil(8), 0);
        out.push(1);
        numbers.for_each(|number| out.extend_from_slice(if number { &NUMBER } else { &TEXT }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_land_in_their_slots() {
        let statement = Prepared { id: 7, parameters: 2 };
        let mut template = Template::new(statement, &[Parameter::Text(4), Parameter::Number]);
        template.set_text(0, b"abcd");
        template.set_number(1, 258);
        let expected =
            b"\x1d\0\0\0\x17\x07\0\0\0\0\x01\0\0\0\0\x01\xfd\0\x08\x80\x04abcd\x02\x01\0\0\0\0\0\0";
        assert_eq!(template.bytes(), expected);
    }

    #[test]
    fn a_statement_without_parameters_has_no_types() {
        let template = Template::new(Prepared { id: 1, parameters: 0 }, &[]);
        assert_eq!(template.bytes(), b"\x0a\0\0\0\x17\x01\0\0\0\0\x01\0\0\0");
    }
}
