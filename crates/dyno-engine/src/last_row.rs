//! Stores the last row of an answer, column by column.

use crate::statement::Value;

/// The last row of an answer, as a session keeps it. The next row reuses its memory.
#[derive(Debug, Clone, Default)]
pub struct LastRow {
    cells: Vec<Cell>,
    bytes: Vec<u8>,
}

/// A value, or the place of its bytes.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text(usize, usize),
    Bytes(usize, usize),
}

impl LastRow {
    /// Removes the row; keeps its memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.bytes.clear();
    }

    /// Adds the value of the next column.
    pub fn push(&mut self, value: Value<'_>) {
        let at = self.bytes.len();
        let cell = match value {
            Value::Null => Cell::Null,
            Value::Int(number) => Cell::Int(number),
            Value::Real(number) => Cell::Real(number),
            Value::Text(text) => Cell::Text(at, at + text.len()),
            Value::Bytes(bytes) => Cell::Bytes(at, at + bytes.len()),
        };
        if let Value::Text(bytes) | Value::Bytes(bytes) = value {
            self.bytes.extend_from_slice(bytes);
        }
        self.cells.push(cell);
    }

    /// The value of a column, from 0; absent where there is no row or no such column.
    pub fn get(&self, column: usize) -> Option<Value<'_>> {
        Some(match *self.cells.get(column)? {
            Cell::Null => Value::Null,
            Cell::Int(number) => Value::Int(number),
            Cell::Real(number) => Value::Real(number),
            Cell::Text(from, to) => Value::Text(&self.bytes[from..to]),
            Cell::Bytes(from, to) => Value::Bytes(&self.bytes[from..to]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_returns_stored_values_and_none_of_the_previous_row() {
        let mut row = LastRow::default();
        let values = [
            Value::Text(b"ab"),
            Value::Null,
            Value::Int(-1),
            Value::Real(0.5),
            Value::Bytes(b"\0"),
            Value::Text(b""),
        ];
        for _ in 0..2 {
            row.clear();
            assert_eq!(row.get(0), None);
            values.iter().for_each(|&value| row.push(value));
            let back: Vec<_> = (0..values.len()).map(|column| row.get(column)).collect();
            assert_eq!(back, values.map(Some));
            assert_eq!(row.get(values.len()), None);
        }
    }
}
