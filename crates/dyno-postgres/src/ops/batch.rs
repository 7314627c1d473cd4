//! Requests that are sent together, with one Sync behind them: after an error the server passes over all that follows.

use super::statements::{Ready, begin_words};
use crate::wire::message;
use dyno_engine::statement::no_pipeline;
use dyno_engine::{OpError, Request};

/// Requests that are kept, as messages without a Sync.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    requests: u32,
}

impl Batch {
    /// Requests that are kept.
    #[inline]
    pub(super) fn requests(&self) -> u32 {
        self.requests
    }

    /// The messages as they go over the wire.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Lets go of them.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.requests = 0;
    }

    /// Keeps `request`.
    ///
    /// # Errors
    /// What is wrong with its values; or it is none that can be kept.
    pub(super) fn keep(&mut self, request: &Request<'_>, ready: &mut Ready) -> Result<(), Box<OpError>> {
        match *request {
            Request::Begin(isolation) => self.put(&begin_words(isolation)),
            Request::Execute(id, values) => {
                let messages = ready.execute(id, values)?;
                // All but what ends the transaction that a statement alone is.
                self.bytes.extend_from_slice(&messages[..messages.len() - message::SYNC.len()]);
            }
            _ => return Err(no_pipeline()),
        }
        self.requests += 1;
        Ok(())
    }

    /// Puts the messages of a statement behind them.
    pub(super) fn add(&mut self, messages: &[u8]) {
        self.bytes.extend_from_slice(messages);
    }

    /// Puts a statement without parameters behind them, whose answer means `asked`.
    pub(super) fn text<T>(&mut self, sql: &str, asked: T) -> T {
        self.put(sql);
        self.wait(asked)
    }

    /// Puts nothing behind them but what asks for their answers.
    pub(super) fn wait<T>(&mut self, asked: T) -> T {
        message::sync(&mut self.bytes);
        asked
    }

    fn put(&mut self, sql: &str) {
        message::parse(&mut self.bytes, "", sql, &[]);
        message::bind_text(&mut self.bytes, "", &[]);
        message::execute(&mut self.bytes);
    }
}
