//! Generates the contents of rows: printable ASCII, different in every row, with a chosen compressibility.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{CopyRotation, TEXT_COLUMNS, TableKind, mix, table_seed};
use dyno_plan::DataSpec;

/// Printable ASCII characters, space to tilde.
const SYMBOLS: u64 = 95;

/// Mask of every other one of eight bytes.
const EVEN: u64 = 0x00ff_00ff_00ff_00ff;

/// The byte that fills the compressible part.
const PADDING: u8 = b'.';

/// Seed offset that separates the filler of a row's rest from that of its columns.
const REST: u64 = 0x7265_7374;

/// Random bytes generated at a time, even where fewer are needed.
const CHUNK: usize = 64;

/// Fills `out` with random printable ASCII.
fn random_text(rng: &mut Xoshiro256PlusPlus, out: &mut [u8]) {
    for chunk in out.chunks_mut(CHUNK) {
        let mut text = [0u8; CHUNK];
        for word in text.as_chunks_mut().0 {
            *word = printable(rng.next_u64()).to_le_bytes();
        }
        chunk.copy_from_slice(&text[..chunk.len()]);
    }
}

/// Maps eight random bytes to printable characters at once. One step per byte would take most of a load's
/// time in builds without optimization.
fn printable(random: u64) -> u64 {
    // A multiplication instead of a modulo; 95 does not divide 256, so some symbols are a third more
    // frequent.
    let even = (((random & EVEN) * SYMBOLS) >> 8) & EVEN;
    let odd = (((random >> 8) & EVEN) * SYMBOLS) & !EVEN;
    (even | odd) + u64::from_le_bytes([b' '; 8])
}

/// Writes `value` as sixteen hexadecimal digits.
fn hex16(value: u64, out: &mut [u8]) {
    for (i, digit) in out[..16].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(value >> (60 - 4 * i) & 15) as usize];
    }
}

/// Random bytes among `width` so that `compressible` percent compress away.
fn random_bytes(width: usize, compressible: u32) -> usize {
    width * (100 - compressible.min(100) as usize) / 100
}

/// Makes the filler of one table's rows.
///
/// The last `compressible` percent of each column is a constant byte; the rest is random printable
/// characters. At 0 % nothing repeats, so LZ methods (LZ4, pglz, NTFS, most arrays) save nothing. An entropy
/// coder still saves about 18 %, since only 95 of 256 byte values occur.
#[derive(Debug, Clone)]
pub struct Filler {
    seed: u64,
    column_bytes: usize,
    random_bytes: usize,
    compressible: u32,
    /// How rows differ from those of schema 1 that they copy; absent if they are no copies.
    rotation: Option<CopyRotation>,
}

impl Filler {
    /// Filler for the table `kind` of `schema`, in columns of `column_bytes`.
    pub fn new(spec: &DataSpec, schema: u32, kind: TableKind, column_bytes: usize) -> Self {
        assert!(column_bytes >= 64, "columns shorter than 64 bytes cannot hold an update's stamp");
        let is_copy = spec.copies(schema);
        Self {
            seed: table_seed(spec.seed, if is_copy { 1 } else { schema }, kind),
            rotation: is_copy.then(|| CopyRotation::of_schema(schema, column_bytes)),
            column_bytes,
            random_bytes: random_bytes(column_bytes, spec.compressible),
            compressible: spec.compressible,
        }
    }

    /// Bytes of one row's text: all columns, one after the other.
    pub fn row_bytes(&self) -> usize {
        self.column_bytes * TEXT_COLUMNS
    }

    /// Width of one text column, in bytes.
    pub fn column_bytes(&self) -> usize {
        self.column_bytes
    }

    /// Writes the text of the row with `key`; column `i` (from 0, which is `c2`) is
    /// `out[i * column_bytes..][..column_bytes]`.
    ///
    /// `c2` begins with `d` and sixteen hexadecimal digits that no other row of the table has. In a copied
    /// schema they are elsewhere in the text.
    pub fn fill(&self, key: u64, out: &mut [u8]) {
        let row_seed = mix(self.seed ^ key);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(row_seed);
        for column in out.chunks_exact_mut(self.column_bytes) {
            let (random, padding) = column.split_at_mut(self.random_bytes);
            random_text(&mut rng, random);
            padding.fill(PADDING);
        }
        out[0] = b'd';
        hex16(row_seed, &mut out[1..17]);
        if let Some(rotation) = self.rotation {
            rotation.apply(out);
        }
    }

    /// Writes filler of any length for the part of a block that the columns of the row with `key` leave free.
    /// It uses a random stream of its own.
    pub fn fill_rest(&self, key: u64, out: &mut [u8]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(mix(mix(self.seed ^ key) ^ REST));
        let (random, padding) = out.split_at_mut(random_bytes(out.len(), self.compressible));
        random_text(&mut rng, random);
        padding.fill(PADDING);
    }
}

/// Makes update values. Each value is new: no row held it before, in this run or another.
///
/// A value begins with `u`, the run's stamp (16 digits), the session (8) and the operation (16).
#[derive(Debug, Clone)]
pub struct UpdateValues {
    rng: Xoshiro256PlusPlus,
    value: Vec<u8>,
    random_bytes: usize,
}

impl UpdateValues {
    /// Bytes in front of the filler: `u`, run, session, operation.
    pub const STAMP_BYTES: usize = 41;

    /// Values of one session for columns of `column_bytes`.
    pub fn new(seed: u64, run_stamp: u64, session: u32, column_bytes: usize, compressible: u32) -> Self {
        let mut value = vec![PADDING; column_bytes];
        value[0] = b'u';
        hex16(run_stamp, &mut value[1..17]);
        value[17..25].copy_from_slice(format!("{session:08x}").as_bytes());
        let rng = Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ u64::from(session) ^ 0x7570_6474));
        let random_bytes = random_bytes(column_bytes, compressible).saturating_sub(Self::STAMP_BYTES);
        Self { rng, value, random_bytes }
    }

    /// What every value of this run begins with: `u` and the run's stamp.
    pub fn run_prefix(run_stamp: u64) -> String {
        format!("u{run_stamp:016x}")
    }

    /// The value of operation `number`; every call makes new filler after the stamp.
    pub fn next(&mut self, number: u64) -> &str {
        hex16(number, &mut self.value[25..41]);
        random_text(&mut self.rng, &mut self.value[Self::STAMP_BYTES..][..self.random_bytes]);
        std::str::from_utf8(&self.value).expect("stamp and filler are ASCII")
    }
}

impl UpdateValues {
    /// The fewest random characters of a column without the stamp. They make the column differ from its old
    /// value even where all of it should compress away.
    const FRESH_BYTES: usize = 17;

    /// Fills `out`, a number of whole columns, with fresh values. The first column is a value of
    /// [`Self::next`]; the others are filler of their own. So a row with many updated columns compresses no
    /// better than a loaded one.
    pub fn fill_columns(&mut self, number: u64, out: &mut [u8]) {
        let width = self.value.len();
        let mut columns = out.chunks_exact_mut(width);
        if let Some(first) = columns.next() {
            first.copy_from_slice(self.next(number).as_bytes());
        }
        let fresh_bytes = (self.random_bytes + Self::STAMP_BYTES).min(width);
        let fresh_bytes = if self.random_bytes == 0 { Self::FRESH_BYTES } else { fresh_bytes };
        for column in columns {
            let (random, padding) = column.split_at_mut(fresh_bytes);
            random_text(&mut self.rng, random);
            padding.fill(PADDING);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(compressible: u32) -> DataSpec {
        DataSpec {
            schemas: 1,
            rows: 100,
            scan_rows: 0,
            block_size: 8192,
            compressible,
            seed: 7,
            secondary: false,
            copied: false,
        }
    }

    #[test]
    fn printable_character_is_scaled_from_its_random_byte() {
        for byte in 0..=255u8 {
            let other_bytes = u64::from_le_bytes([byte.wrapping_mul(7); 8]);
            for place in 0..8 {
                let mut bytes = other_bytes.to_le_bytes();
                bytes[place] = byte;
                let expected = bytes.map(|byte| b' ' + ((u16::from(byte) * 95) >> 8) as u8);
                assert_eq!(printable(u64::from_le_bytes(bytes)).to_le_bytes(), expected);
            }
        }
    }

    fn row(compressible: u32, key: u64) -> Vec<u8> {
        let filler = Filler::new(&spec(compressible), 1, TableKind::Rows, 128);
        let mut out = vec![0; filler.row_bytes()];
        filler.fill(key, &mut out);
        out
    }

    #[test]
    fn filler_rows_are_printable_and_distinct() {
        let mut distinct_rows = std::collections::HashSet::new();
        for compressible in [0, 50, 100] {
            for key in 1..=100 {
                let row = row(compressible, key);
                assert!(row.iter().all(|b| (b' '..=b'~').contains(b)));
                distinct_rows.insert((compressible, row));
            }
        }
        assert_eq!(distinct_rows.len(), 300);
    }

    #[test]
    fn same_seed_gives_the_same_row() {
        assert_eq!(row(25, 17), row(25, 17));
    }

    #[test]
    fn filler_padding_matches_compressible_share() {
        for (compressible, lowest, highest) in [(0, 0.0, 0.03), (50, 0.48, 0.53), (90, 0.87, 0.92)] {
            let row = row(compressible, 5);
            let padding = row.iter().filter(|&&b| b == PADDING).count() as f64 / row.len() as f64;
            assert!((lowest..=highest).contains(&padding), "{compressible} %: {padding}");
        }
    }

    #[test]
    fn update_values_never_repeat() {
        let mut distinct_values = std::collections::HashSet::new();
        for session in 0..3 {
            let mut values = UpdateValues::new(1, 99, session, 128, 100);
            for number in 0..100 {
                assert!(distinct_values.insert(values.next(number).to_owned()));
            }
        }
        assert!(
            distinct_values
                .iter()
                .all(|value| value.starts_with(&UpdateValues::run_prefix(99)) && value.len() == 128)
        );
    }

    #[test]
    fn update_values_are_unique_and_keep_compressible_share() {
        for (compressible, lowest, highest) in [(0, 0.0, 0.03), (50, 0.48, 0.53), (100, 0.6, 0.88)] {
            let mut values = UpdateValues::new(1, 99, 3, 128, compressible);
            let mut distinct_columns = std::collections::HashSet::new();
            for number in 0..50 {
                let mut out = vec![0; 19 * 128];
                values.fill_columns(number, &mut out);
                assert!(out.starts_with(UpdateValues::run_prefix(99).as_bytes()));
                assert!(out.iter().all(|b| (b' '..=b'~').contains(b)));
                let padding = out[128..].iter().filter(|&&b| b == PADDING).count() as f64 / (18.0 * 128.0);
                assert!((lowest..=highest).contains(&padding), "{compressible} %: {padding}");
                assert!(out.chunks(128).all(|column| distinct_columns.insert(column.to_vec())));
            }
        }
    }
}
