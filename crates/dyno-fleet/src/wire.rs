//! The connection to the NATS server: the client runs on threads of its own, and every call has a time limit.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions};
use dyno_engine::Clock;
use futures_util::StreamExt;
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use crate::error::FleetError;
use crate::seal::{GroupKey, SealError, Sealer};

/// How long connecting to the server may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Maximum number of unprocessed messages of one subscription. The client drops further ones, and their
/// senders get no answer.
const WAITING_MAX: usize = 65_536;

/// The address of the NATS server and the credentials for it. `Debug` prints no secrets.
#[derive(Clone, Default)]
pub struct Access {
    /// `nats://host:4222` or `tls://host:4222`; several are separated by commas.
    pub url: String,
    /// Authentication token for the server.
    pub token: Option<String>,
    /// User name and password for the server.
    pub user: Option<(String, String)>,
    /// The seed of an nkey.
    pub nkey: Option<String>,
    /// File with the certificate of a certificate authority, PEM.
    pub ca: Option<PathBuf>,
    /// Files with the client's own certificate and key, PEM.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The key that seals the group's messages. Without it, anyone who reaches the server is trusted.
    pub key: Option<GroupKey>,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("url", &self.url).finish_non_exhaustive()
    }
}

/// A received message.
pub(crate) struct IncomingMessage {
    pub(crate) bytes: Vec<u8>,
    /// The subject for the answer; absent if none is expected.
    pub(crate) reply: Option<String>,
}

/// A connection to the NATS server.
pub struct Wire {
    client: Client,
    sealer: Arc<Sealer>,
    refused: Arc<Refusals>,
    runtime: Option<Runtime>,
}

impl Wire {
    /// Connects to the NATS server.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the credentials.
    pub fn reach(access: &Access) -> Result<Self, FleetError> {
        let failed = |reason: String, hint: &str| FleetError::Meeting {
            address: access.url.clone(),
            reason,
            hint: hint.to_owned(),
        };
        let sealer = Sealer::new(access.key.clone())
            .map_err(|error| failed(error.to_string(), "the system provides no random bytes"))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("dyno-nats")
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string(), "the system cannot start a thread"))?;
        // The client uses the process's default cryptography provider, which must be set first.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let addresses: Vec<&str> = access.url.split(',').map(str::trim).collect();
        let options = options(access);
        let reached =
            runtime.block_on(async { tokio::time::timeout(CONNECT_MAX, options.connect(addresses)).await });
        let hint = "start one with `nats-server`, and check its address, its port and the credentials that \
                    it requires";
        match reached {
            Ok(Ok(client)) => {
                Ok(Self { client, sealer: Arc::new(sealer), refused: Arc::default(), runtime: Some(runtime) })
            }
            Ok(Err(error)) => Err(failed(reason(&error), hint)),
            Err(_) => Err(failed(format!("no answer within {} s", CONNECT_MAX.as_secs()), hint)),
        }
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until this is dropped")
    }

    /// Whether the client is connected to the NATS server now.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Sends a message. If that fails, the message is lost; a caller that expects an answer notices that none
    /// comes.
    pub(crate) fn publish(&self, subject: &str, bytes: Vec<u8>) {
        let bytes = self.sealer.seal(subject, bytes);
        let (client, subject) = (self.client.clone(), subject.to_owned());
        self.runtime().spawn(async move {
            let _ = client.publish(subject, bytes.into()).await;
        });
    }

    /// The reason of the last refused message, and the number of refused messages.
    pub(crate) fn last_refusal(&self) -> Option<(SealError, u64)> {
        self.refused.last()
    }

    fn sealed(&self) -> SealedClient {
        SealedClient {
            client: self.client.clone(),
            sealer: Arc::clone(&self.sealer),
            refused: Arc::clone(&self.refused),
        }
    }

    /// Waits until queued messages are sent, up to a time limit.
    pub(crate) fn flush(&self) {
        let _ =
            self.runtime().block_on(async { tokio::time::timeout(CONNECT_MAX, self.client.flush()).await });
    }

    /// Sends a request and waits up to `patience` for the answer.
    pub(crate) fn ask(&self, subject: &str, bytes: Vec<u8>, patience: Duration) -> Option<Vec<u8>> {
        self.asked(subject, bytes, patience).ok()
    }

    /// Like [`Self::ask`], but says why there is no answer.
    pub(crate) fn asked(
        &self,
        subject: &str,
        bytes: Vec<u8>,
        patience: Duration,
    ) -> Result<Vec<u8>, Unanswered> {
        self.runtime().block_on(answer(self.sealed(), subject.to_owned(), bytes, patience))
    }

    /// Sends many requests at the same time; answers are in the order of the requests.
    pub(crate) fn ask_each(
        &self,
        questions: Vec<(String, Vec<u8>)>,
        patience: Duration,
    ) -> Vec<Option<Vec<u8>>> {
        self.runtime().block_on(join_all(
            questions.into_iter().map(|(subject, bytes)| asked(self.sealed(), subject, bytes, patience)),
        ))
    }

    /// Sends a request to all receivers, and collects answers for this long.
    pub(crate) fn ask_all(&self, subject: &str, bytes: Vec<u8>, patience: Duration) -> Vec<Vec<u8>> {
        let SealedClient { client, sealer, refused } = self.sealed();
        let bytes = sealer.seal(subject, bytes);
        let subject = subject.to_owned();
        self.runtime().block_on(async move {
            let inbox = client.new_inbox();
            let Ok(mut answers) = client.subscribe(inbox.clone()).await else { return Vec::new() };
            if client.publish_with_reply(subject, inbox, bytes.into()).await.is_err() {
                return Vec::new();
            }
            let mut all = Vec::new();
            let until = tokio::time::Instant::now() + patience;
            while let Ok(Some(message)) = tokio::time::timeout_at(until, answers.next()).await {
                match sealer.open(&message.subject, &message.payload) {
                    Ok(bytes) => all.push(bytes),
                    Err(error) => refused.note(error),
                }
                if all.len() >= WAITING_MAX {
                    break;
                }
            }
            all
        })
    }

    /// Calls `heed` for each message on `subject`, on the client's thread, until the returned value is
    /// dropped.
    ///
    /// # Errors
    /// The server refuses the subscription.
    pub(crate) fn subscribe(
        &self,
        subject: &str,
        mut heed: impl FnMut(IncomingMessage, &Answerer) + Send + 'static,
    ) -> Result<Subscription, FleetError> {
        let client = self.client.clone();
        let subscribed = self.runtime().block_on(async {
            let subscription =
                client.subscribe(subject.to_owned()).await.map_err(|error| error.to_string())?;
            tokio::time::timeout(CONNECT_MAX, confirm_subscription(&client))
                .await
                .map_err(|_| "no answer".to_owned())??;
            Ok::<_, String>(subscription)
        });
        let mut subscription = subscribed.map_err(|reason| FleetError::Meeting {
            address: String::new(),
            reason,
            hint: "check that this user may subscribe to dyno.> and publish there".to_owned(),
        })?;
        let sealed = self.sealed();
        let answerer = Answerer { sealed: self.sealed(), runtime: self.runtime().handle().clone() };
        let task = self.runtime().spawn(async move {
            while let Some(message) = subscription.next().await {
                match sealed.sealer.open(&message.subject, &message.payload) {
                    Ok(bytes) => {
                        let reply = message.reply.map(|reply| reply.to_string());
                        heed(IncomingMessage { bytes, reply }, &answerer);
                    }
                    Err(error) => sealed.refused.note(error),
                }
            }
        });
        Ok(Subscription(task.abort_handle()))
    }

    /// Sends the request that `ask` returns, again and again until it returns none. Calls `heed` with the
    /// moments of sending and receiving on `clock`, and with the answer.
    pub(crate) fn keep_asking(
        &self,
        clock: Arc<dyn Clock>,
        every: Duration,
        ask: impl Fn() -> Option<(String, Vec<u8>)> + Send + 'static,
        heed: impl Fn(u64, u64, Vec<u8>) + Send + 'static,
    ) {
        let sealed = self.sealed();
        self.runtime().spawn(async move {
            while let Some((subject, bytes)) = ask() {
                let asked_ns = clock.now_ns();
                let answer =
                    asked(sealed.clone(), subject, bytes, every.max(Duration::from_millis(200))).await;
                if let Some(bytes) = answer {
                    heed(asked_ns, clock.now_ns(), bytes);
                }
                tokio::time::sleep(every).await;
            }
        });
    }

    /// Sends each request `times` times in a row; returns the answers with the moments of sending and
    /// receiving.
    pub(crate) fn ask_often(
        &self,
        clock: &Arc<dyn Clock>,
        questions: Vec<(String, Vec<u8>)>,
        times: u32,
        patience: Duration,
    ) -> Vec<Vec<(u64, u64, Vec<u8>)>> {
        let ask_repeatedly = |(subject, bytes): (String, Vec<u8>)| {
            let (sealed, clock) = (self.sealed(), Arc::clone(clock));
            async move {
                let mut answers = Vec::new();
                for _ in 0..times {
                    let asked_ns = clock.now_ns();
                    if let Some(answer) =
                        asked(sealed.clone(), subject.clone(), bytes.clone(), patience).await
                    {
                        answers.push((asked_ns, clock.now_ns(), answer));
                    }
                }
                answers
            }
        };
        self.runtime().block_on(join_all(questions.into_iter().map(ask_repeatedly)))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            let client = self.client.clone();
            // Flushes the last messages, if a runtime is left.
            let _ = runtime
                .block_on(async { tokio::time::timeout(Duration::from_secs(1), client.flush()).await });
            runtime.shutdown_timeout(Duration::from_millis(200));
        }
    }
}

/// A subscription, which ends when this value is dropped.
pub(crate) struct Subscription(tokio::task::AbortHandle);

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends answers from the client's thread.
pub(crate) struct Answerer {
    sealed: SealedClient,
    runtime: tokio::runtime::Handle,
}

impl Answerer {
    pub(crate) fn answer(&self, reply: &str, bytes: Vec<u8>) {
        let bytes = self.sealed.sealer.seal(reply, bytes);
        let (client, reply) = (self.sealed.client.clone(), reply.to_owned());
        self.runtime.spawn(async move {
            let _ = client.publish(reply, bytes.into()).await;
        });
    }
}

/// The client, and what seals its messages.
#[derive(Clone)]
struct SealedClient {
    client: Client,
    sealer: Arc<Sealer>,
    refused: Arc<Refusals>,
}

/// Counts the messages refused because of their seal.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Option<(SealError, u64)>>);

impl Refusals {
    fn note(&self, error: SealError) {
        let mut last = self.0.lock();
        *last = Some((error, last.map_or(0, |(_, count)| count) + 1));
    }

    fn last(&self) -> Option<(SealError, u64)> {
        *self.0.lock()
    }
}

/// Waits until the server has processed everything sent before. A message that the client sends to itself
/// comes back after that. Flushing is not enough, because the bytes may still be in transit.
async fn confirm_subscription(client: &Client) -> Result<(), String> {
    let inbox = client.new_inbox();
    let mut subscription = client.subscribe(inbox.clone()).await.map_err(|error| error.to_string())?;
    client.publish(inbox, Vec::new().into()).await.map_err(|error| error.to_string())?;
    subscription.next().await.map(|_| ()).ok_or_else(|| "the connection was closed".to_owned())
}

/// Why a request got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The server reports that nobody has subscribed to the subject.
    Nobody,
    /// No answer came in time.
    Late,
}

async fn answer(
    sealed: SealedClient,
    subject: String,
    bytes: Vec<u8>,
    patience: Duration,
) -> Result<Vec<u8>, Unanswered> {
    let SealedClient { client, sealer, refused } = sealed;
    let bytes = sealer.seal(&subject, bytes);
    let answer = tokio::time::timeout(patience, client.request(subject, bytes.into())).await;
    match answer.map_err(|_| Unanswered::Late)? {
        // A forged answer that comes first makes this request fail; it is never accepted as the agent's
        // answer.
        Ok(message) => sealer.open(&message.subject, &message.payload).map_err(|error| {
            refused.note(error);
            Unanswered::Late
        }),
        Err(error) if error.kind() == RequestErrorKind::NoResponders => Err(Unanswered::Nobody),
        Err(_) => Err(Unanswered::Late),
    }
}

async fn asked(sealed: SealedClient, subject: String, bytes: Vec<u8>, patience: Duration) -> Option<Vec<u8>> {
    answer(sealed, subject, bytes, patience).await.ok()
}

fn options(access: &Access) -> ConnectOptions {
    let mut options = ConnectOptions::new()
        .name("dyno")
        .subscription_capacity(WAITING_MAX)
        .ping_interval(Duration::from_secs(5))
        .connection_timeout(Duration::from_secs(5));
    if let Some(token) = &access.token {
        options = options.token(token.clone());
    }
    if let Some((user, password)) = &access.user {
        options = options.user_and_password(user.clone(), password.clone());
    }
    if let Some(seed) = &access.nkey {
        options = options.nkey(seed.clone());
    }
    if let Some(ca) = &access.ca {
        options = options.add_root_certificates(ca.clone());
    }
    if let Some((certificate, key)) = &access.certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    options
}

/// An error with its causes, on one line.
fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    // The client's errors often repeat their causes, so repeated texts are left out.
    let mut words: Vec<String> = Vec::new();
    for text in chain.map(|error| error.to_string()) {
        if !words.iter().any(|said| said.contains(text.trim_start_matches("nats: "))) {
            words.push(text);
        }
    }
    words.join(": ")
}
