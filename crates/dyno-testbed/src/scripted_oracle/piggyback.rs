//! Parts that a client sends before a request in the same message.

use super::SessionLabels;
use super::codec::In;
use super::conversation::Conversation;
use super::failure::{RequestFailure, unexpected};

const FUNCTION_CLOSE_CURSORS: u8 = 105;
const FUNCTION_END_TO_END: u8 = 135;
const FUNCTION_SET_KEYS: u8 = 154;

impl Conversation<'_> {
    /// Reads one after its kind and returns the cursors that it closes. Session labels go into `labels`.
    pub(super) fn piggyback(
        &self,
        message: &mut In<'_>,
        labels: &mut SessionLabels,
    ) -> Result<Vec<u64>, RequestFailure> {
        match self.head(message)? {
            FUNCTION_CLOSE_CURSORS => {
                message.u8()?;
                let count = message.ub()?;
                return Ok((0..count).map(|_| message.ub()).collect::<Result<_, _>>()?);
            }
            FUNCTION_END_TO_END => {
                message.skip_u8(2)?;
                message.skip_ub(1)?;
                let mut lengths = Vec::new();
                for place in 0..9 {
                    message.u8()?;
                    let length = message.ub()?;
                    // Client identifier, module, action, client information and the database operation; the
                    // other fields are not texts.
                    if matches!(place, 0 | 1 | 2 | 5 | 8) {
                        lengths.push(length);
                    }
                }
                for (place, length) in lengths.into_iter().enumerate() {
                    if length > 0 {
                        let text = String::from_utf8_lossy(&message.bytes()?).into_owned();
                        match place {
                            1 => labels.module = Some(text),
                            2 => labels.action = Some(text),
                            3 => labels.client_info = Some(text),
                            _ => {}
                        }
                    }
                }
            }
            FUNCTION_SET_KEYS => {
                message.u8()?;
                message.ub()?;
                message.u8()?;
                let count = message.ub()?;
                message.skip_ub(1)?;
                message.u8()?;
                message.bytes()?;
                for _ in 0..count {
                    message.text()?;
                    message.text()?;
                    message.ub()?;
                }
            }
            function => return Err(unexpected(format!("piggyback {function}"))),
        }
        Ok(Vec::new())
    }
}
