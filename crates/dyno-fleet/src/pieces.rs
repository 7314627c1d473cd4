//! What is on its way piece by piece, until its checksum says that all of it is there.

use sha2::{Digest, Sha256};

use crate::limits::PIECE_BYTES;

/// Which piece one is, of how many, of what has this checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) number: u32,
    pub(crate) of: u32,
    pub(crate) sum: String,
}

/// The pieces of these bytes, in their order.
pub(crate) fn pieces(bytes: &[u8]) -> impl Iterator<Item = (Piece, &[u8])> {
    let (sum, of) = (sum(bytes), bytes.len().div_ceil(PIECE_BYTES) as u32);
    let piece = move |number| Piece { number, of, sum: sum.clone() };
    (0..).map(piece).zip(bytes.chunks(PIECE_BYTES))
}

/// Pieces that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    of: u32,
    sum: String,
    there: Vec<Option<Vec<u8>>>,
}

impl Pieces {
    /// Takes one; returns all bytes once they are there. Of another whole than the pieces before, it is the first.
    ///
    /// # Errors
    /// It is none of at most `most` bytes, or all together are not what was sent; in words.
    pub(crate) fn take(
        &mut self,
        piece: Piece,
        bytes: &[u8],
        most: usize,
    ) -> Result<Option<Vec<u8>>, String> {
        let Piece { number, of, sum: all_sum } = piece;
        let most_pieces = most.div_ceil(PIECE_BYTES);
        if of == 0 || number >= of || of as usize > most_pieces || bytes.len() > PIECE_BYTES {
            return Err(format!("piece {number} of {of} with {} bytes", bytes.len()));
        }
        if (self.of, &self.sum) != (of, &all_sum) {
            *self = Self { of, sum: all_sum, there: vec![None; of as usize] };
        }
        self.there[number as usize] = Some(bytes.to_vec());
        if self.there.iter().any(Option::is_none) {
            return Ok(None);
        }
        let Self { sum: all_sum, there, .. } = std::mem::take(self);
        let whole: Vec<u8> = there.into_iter().flatten().flatten().collect();
        match sum(&whole) == all_sum {
            true => Ok(Some(whole)),
            false => Err("what arrived is not what was sent: its checksum differs".to_owned()),
        }
    }
}

/// The checksum of these bytes: SHA-256.
pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes() -> Vec<u8> {
        (0..PIECE_BYTES * 2 + 5).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn pieces_in_any_order_and_twice_are_the_whole() {
        let bytes = bytes();
        let all: Vec<_> = pieces(&bytes).collect();
        assert_eq!(all.len(), 3);
        let mut there = Pieces::default();
        for at in [2, 0, 0] {
            assert_eq!(there.take(all[at].0.clone(), all[at].1, bytes.len()), Ok(None));
        }
        assert_eq!(there.take(all[1].0.clone(), all[1].1, bytes.len()), Ok(Some(bytes.clone())));
    }

    #[test]
    fn what_was_changed_on_the_way_is_refused_and_may_come_again() {
        let bytes = bytes();
        let mut there = Pieces::default();
        for is_changed in [true, false] {
            let taken: Vec<_> = pieces(&bytes)
                .map(|(piece, part)| {
                    let mut part = part.to_vec();
                    part[0] ^= u8::from(is_changed && piece.number == 1);
                    there.take(piece, &part, bytes.len())
                })
                .collect();
            match is_changed {
                true => assert!(taken[2].as_ref().unwrap_err().contains("checksum"), "{:?}", taken[2]),
                false => assert_eq!(taken[2], Ok(Some(bytes.clone()))),
            }
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        let piece = |number, of| Piece { number, of, sum: "s".into() };
        let mut there = Pieces::default();
        for (number, of, bytes) in
            [(0, 0, 1), (2, 2, 1), (0, 4, 1), (0, u32::MAX, 1), (0, 1, PIECE_BYTES + 1)]
        {
            assert!(
                there.take(piece(number, of), &vec![0; bytes], PIECE_BYTES * 3).is_err(),
                "{number} {of} {bytes}"
            );
        }
        assert_eq!(there.take(piece(0, 2), b"a", PIECE_BYTES * 3), Ok(None));
        // Another whole takes its place.
        assert!(there.take(Piece { sum: "t".into(), ..piece(0, 1) }, b"a", PIECE_BYTES).is_err());
        assert!(there.there.is_empty());
    }
}
