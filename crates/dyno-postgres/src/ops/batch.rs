//! Sends several requests with one Sync: after an error the server skips all that follow.

use super::statements::{PostgresSessionMessages, begin_words};
use crate::wire::message;
use dyno_engine::statement::no_pipeline;
use dyno_engine::{OpError, SessionRequest};

/// Collected requests, as messages without a Sync.
#[derive(Debug, Default)]
pub(super) struct PostgresRequestBatch {
    bytes: Vec<u8>,
    requests: u32,
}

impl PostgresRequestBatch {
    /// Number of requests that are collected.
    #[inline]
    pub(super) fn requests(&self) -> u32 {
        self.requests
    }

    /// The messages in their encoding for the server.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.requests = 0;
    }

    /// Adds `request`.
    ///
    /// # Errors
    /// A value does not fit its parameter, or the request cannot be batched.
    pub(super) fn queue(
        &mut self,
        request: &SessionRequest<'_>,
        ready: &mut PostgresSessionMessages,
    ) -> Result<(), Box<OpError>> {
        match *request {
            SessionRequest::Begin(isolation) => self.put(&begin_words(isolation)),
            SessionRequest::Execute(id, values) => {
                let messages = ready.execute(id, values)?;
                // Everything except the Sync that would end the statement's own transaction.
                self.bytes.extend_from_slice(&messages[..messages.len() - message::SYNC.len()]);
            }
            _ => return Err(no_pipeline()),
        }
        self.requests += 1;
        Ok(())
    }

    /// Appends the messages of a statement.
    pub(super) fn add(&mut self, messages: &[u8]) {
        self.bytes.extend_from_slice(messages);
    }

    /// Appends a statement without parameters and a Sync; returns `asked`, which interprets its result.
    pub(super) fn finish_with<T>(&mut self, sql: &str, pending: T) -> T {
        self.put(sql);
        self.finish(pending)
    }

    /// Appends only a Sync, which requests the results.
    pub(super) fn finish<T>(&mut self, pending: T) -> T {
        message::sync(&mut self.bytes);
        pending
    }

    fn put(&mut self, sql: &str) {
        message::parse(&mut self.bytes, "", sql, &[]);
        message::bind_text(&mut self.bytes, "", &[]);
        message::execute(&mut self.bytes);
    }
}
