//! Splits data into pieces for transfer, and assembles and verifies them.

use sha2::{Digest, Sha256};

use crate::limits::PIECE_BYTES;

/// One piece of a transfer: its number, how many there are, and the checksum of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TransferPiece {
    pub(crate) number: u32,
    pub(crate) piece_count: u32,
    pub(crate) sum: String,
}

/// Splits bytes into pieces, in their order.
pub(crate) fn pieces(bytes: &[u8]) -> impl Iterator<Item = (TransferPiece, &[u8])> {
    let (sum, of) = (checksum(bytes), bytes.len().div_ceil(PIECE_BYTES) as u32);
    let piece = move |number| TransferPiece { number, piece_count: of, sum: sum.clone() };
    (0..).map(piece).zip(bytes.chunks(PIECE_BYTES))
}

#[derive(Debug, Default)]
pub(crate) struct PieceAssembler {
    piece_count: u32,
    sum: String,
    received: Vec<Option<Vec<u8>>>,
}

impl PieceAssembler {
    /// Adds a piece; returns all bytes once they are complete. A piece of another transfer starts the
    /// assembly over.
    ///
    /// # Errors
    /// The piece does not fit data of at most `most` bytes, or the checksum of the whole is wrong; the text
    /// says why.
    pub(crate) fn take(
        &mut self,
        piece: TransferPiece,
        bytes: &[u8],
        most: usize,
    ) -> Result<Option<Vec<u8>>, String> {
        let TransferPiece { number, piece_count: of, sum: all_sum } = piece;
        let most_pieces = most.div_ceil(PIECE_BYTES);
        if of == 0 || number >= of || of as usize > most_pieces || bytes.len() > PIECE_BYTES {
            return Err(format!("piece {number} of {of} with {} bytes", bytes.len()));
        }
        if (self.piece_count, &self.sum) != (of, &all_sum) {
            *self = Self { piece_count: of, sum: all_sum, received: vec![None; of as usize] };
        }
        self.received[number as usize] = Some(bytes.to_vec());
        if self.received.iter().any(Option::is_none) {
            return Ok(None);
        }
        let Self { sum: all_sum, received: there, .. } = std::mem::take(self);
        let whole: Vec<u8> = there.into_iter().flatten().flatten().collect();
        match checksum(&whole) == all_sum {
            true => Ok(Some(whole)),
            false => {
                Err("the received data differs from the sent data: its checksum does not match".to_owned())
            }
        }
    }
}

/// SHA-256 checksum of these bytes, hexadecimal.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes() -> Vec<u8> {
        (0..PIECE_BYTES * 2 + 5).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn transfer_pieces_assemble_in_any_order_with_duplicates() {
        let bytes = bytes();
        let all: Vec<_> = pieces(&bytes).collect();
        assert_eq!(all.len(), 3);
        let mut assembler = PieceAssembler::default();
        for at in [2, 0, 0] {
            assert_eq!(assembler.take(all[at].0.clone(), all[at].1, bytes.len()), Ok(None));
        }
        assert_eq!(assembler.take(all[1].0.clone(), all[1].1, bytes.len()), Ok(Some(bytes.clone())));
    }

    #[test]
    fn corrupted_piece_is_refused_and_can_be_resent() {
        let bytes = bytes();
        let mut assembler = PieceAssembler::default();
        for is_changed in [true, false] {
            let outcomes: Vec<_> = pieces(&bytes)
                .map(|(piece, part)| {
                    let mut part = part.to_vec();
                    part[0] ^= u8::from(is_changed && piece.number == 1);
                    assembler.take(piece, &part, bytes.len())
                })
                .collect();
            match is_changed {
                true => assert!(outcomes[2].as_ref().unwrap_err().contains("checksum"), "{:?}", outcomes[2]),
                false => assert_eq!(outcomes[2], Ok(Some(bytes.clone()))),
            }
        }
    }

    #[test]
    fn impossible_piece_numbers_are_refused() {
        let piece = |number, of| TransferPiece { number, piece_count: of, sum: "s".into() };
        let mut assembler = PieceAssembler::default();
        for (number, of, bytes) in
            [(0, 0, 1), (2, 2, 1), (0, 4, 1), (0, u32::MAX, 1), (0, 1, PIECE_BYTES + 1)]
        {
            assert!(
                assembler.take(piece(number, of), &vec![0; bytes], PIECE_BYTES * 3).is_err(),
                "{number} {of} {bytes}"
            );
        }
        assert_eq!(assembler.take(piece(0, 2), b"a", PIECE_BYTES * 3), Ok(None));
        // A piece of another transfer replaces what was received.
        assert!(assembler.take(TransferPiece { sum: "t".into(), ..piece(0, 1) }, b"a", PIECE_BYTES).is_err());
        assert!(assembler.received.is_empty());
    }
}
