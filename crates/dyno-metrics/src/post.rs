//! Sends JSON to HTTP addresses on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::tls::TlsConfig;

/// Maximum time of one request.
const REQUEST_MAX: Duration = Duration::from_secs(5);
/// Maximum time that a command waits at its end for queued requests.
const END_MAX: Duration = Duration::from_secs(8);
/// Maximum number of queued requests. Runs end seconds apart, so few requests wait at once.
const QUEUE: usize = 64;

/// A request that could not be sent, and why.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what}: {why}")]
pub struct PostError {
    /// What was sent, or the URL that it was sent to.
    pub what: String,
    /// Why it was not delivered.
    pub why: String,
}

pub(crate) struct Post {
    pub(crate) url: String,
    pub(crate) body: Value,
}

/// Sends queued requests one after the other.
pub(crate) struct Poster {
    queue: Option<SyncSender<Post>>,
    errors: Receiver<PostError>,
    thread: Option<JoinHandle<()>>,
}

impl Poster {
    /// Starts the sending thread. Requests carry `token` if there is one; errors never contain it.
    pub(crate) fn start(token: Option<String>) -> std::io::Result<Self> {
        let (queue, posts) = sync_channel::<Post>(QUEUE);
        let (tell, errors) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new().name("dyno-post".into()).spawn(move || {
            let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
            let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider).build();
            let agent: ureq::Agent = ureq::Agent::config_builder()
                .tls_config(tls)
                .timeout_global(Some(REQUEST_MAX))
                .max_redirects(0)
                .build()
                .into();
            for post in posts {
                let mut request = agent.post(&post.url).header("Content-Type", "application/json");
                if let Some(token) = &token {
                    request = request.header("Authorization", &format!("Bearer {token}"));
                }
                if let Err(error) = request.send(post.body.to_string()) {
                    // The error queue is bounded; if its reader never empties it, only the first errors are
                    // kept.
                    let _ = tell.try_send(PostError { what: post.url, why: error.to_string() });
                }
            }
        })?;
        Ok(Self { queue: Some(queue), errors, thread: Some(thread) })
    }

    /// Queues a request. If the queue is full, the request is dropped and an error is returned.
    pub(crate) fn send(&self, post: Post) -> Result<(), PostError> {
        let queue = self.queue.as_ref();
        let sent = queue.is_some_and(|queue| match queue.try_send(post) {
            Ok(()) => true,
            Err(_) => false,
        });
        match sent {
            true => Ok(()),
            false => Err(PostError {
                what: "a request".to_owned(),
                why: "too many are already waiting".to_owned(),
            }),
        }
    }

    /// Waits a bounded time for queued requests, then returns the errors of those that failed.
    pub(crate) fn finish(&mut self) -> Vec<PostError> {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let until = Instant::now() + END_MAX;
            while !thread.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        self.errors.try_iter().collect()
    }
}
