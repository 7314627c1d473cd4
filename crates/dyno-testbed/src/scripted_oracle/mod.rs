//! A server that speaks Oracle's wire protocol and answers by a script. It is a test double: it shows what a client sends, how
//! often it parses, executes and fetches, and how it takes answers and errors. It knows nothing of SQL and is no Oracle database.
//!
//! It speaks as one of several releases does ([`ScriptedRelease`]). A client does not verify the server, so nothing is encrypted
//! or checked.

mod codec;
mod conversation;
mod cursor;
mod database;
mod execution;
mod failure;
mod greeting;
mod logon;
mod messages;
mod model;
mod packets;
mod piggyback;
#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod recording;
mod release;
mod request;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use conversation::Conversation;
pub use database::{ScriptedDatabase, SessionLabels};
pub use model::{ModelDatabase, ModelFaults, ModelOptions, ModelWork};
pub use release::ScriptedRelease;

/// What a statement is answered with.
#[derive(Debug, Clone)]
pub enum ScriptedAnswer {
    /// Nothing but that it was done.
    Done,
    /// Rows were changed, and the transaction is open.
    Changed(u64),
    /// The rows of a query.
    Rows {
        /// Their columns: name and type.
        columns: Vec<(&'static str, ScriptedType)>,
        /// The values of each row, in the order of the columns.
        rows: Vec<Vec<ScriptedValue>>,
    },
    /// What the last binds of a block come back with, which ends the transaction.
    Returned(Vec<ScriptedValue>),
    /// What binds of a block come back with, by their places. A transaction goes on.
    ReturnedAt(Vec<(usize, ScriptedValue)>),
    /// The database's refusal: the number, and the text with all its lines.
    Refused(u32, &'static str),
    /// The same with a text that was made for this call.
    RefusedWith(u32, String),
    /// The same, where the database had begun to answer: a marker says that what came before is void.
    RefusedByMarker(u32, &'static str),
    /// It was created, with compilation errors.
    CreatedWithErrors,
    /// No answer, until the client goes away.
    Hang,
    /// No answer, until the client breaks the call off: then ORA-01013.
    AwaitBreak,
    /// The connection ends within this answer, after this many bytes of it.
    CutOff(Box<ScriptedAnswer>, usize),
}

/// A type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedType {
    /// NUMBER of any precision and scale.
    Number,
    /// VARCHAR2 of up to 4,000 bytes.
    Text,
    /// DATE, with its time to the second.
    Date,
    /// TIMESTAMP without a time zone.
    Timestamp,
    /// RAW of up to 2,000 bytes.
    Raw,
}

/// A value of a bind or a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedValue {
    /// NULL, of any type.
    Null,
    /// A whole number, as a NUMBER.
    Int(i64),
    /// Another number, in decimal digits.
    Decimal(String),
    /// A text, as a VARCHAR2 in UTF-8.
    Text(String),
    /// Bytes as they are on the wire: of a DATE, TIMESTAMP or RAW.
    Raw(Vec<u8>),
}

impl ScriptedValue {
    /// The bytes of a moment, as DATE and TIMESTAMP have them.
    pub fn moment(year: u16, month: u8, day: u8, hour: u8, minute: u8, seconds: u8) -> Self {
        let (century, year) = ((year / 100 + 100) as u8, (year % 100 + 100) as u8);
        Self::Raw(vec![century, year, month, day, hour + 1, minute + 1, seconds + 1])
    }
}

/// What a server saw of its clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WireCounts {
    /// Statements that came with their text.
    pub parses: u64,
    /// Executions of statements that were parsed before.
    pub re_executions: u64,
    /// Requests for more rows of an open cursor.
    pub fetches: u64,
    /// Cursors that clients closed, each once.
    pub closed_cursors: u64,
    /// Commits by a message of their own.
    pub commits: u64,
    /// Rollbacks by a message of their own.
    pub rollbacks: u64,
    /// Requests, each of which is answered.
    pub round_trips: u64,
    /// Packets larger than was agreed.
    pub oversized_packets: u64,
    /// Calls that clients broke off.
    pub breaks: u64,
    /// Times that both sides began again, after a break of either.
    pub resets: u64,
}

/// What a script is asked.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedCall<'a> {
    /// The statement's text as the client sent it.
    pub sql: &'a str,
    /// Its binds, one list for each execution; NULL where it is only parsed.
    pub executions: &'a [Vec<ScriptedValue>],
    /// What all clients did before it.
    pub counts: WireCounts,
    /// Whether its text came with it, so that it is parsed.
    pub is_parsed: bool,
}

/// What a server answers to a connection, as a listener does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScriptedGreeting {
    /// It accepts it, and the conversation follows.
    #[default]
    Accept,
    /// It accepts it, and answers nothing that follows.
    AcceptAndHang,
    /// It wants the request again, this often, and then accepts it.
    Resend(u32),
    /// It sends the client to this port of the loopback interface.
    Redirect(u16),
    /// It refuses it with this error of a listener: 12514.
    Refuse(u32),
}

/// How a server differs from the usual.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedOptions {
    /// The release that it speaks as.
    pub release: ScriptedRelease,
    /// What it answers to a connection.
    pub greeting: ScriptedGreeting,
    /// The refusal of each log-on: number and text. `None` lets every user in.
    pub refused_logon: Option<(u32, &'static str)>,
    /// Whether a row has no value for a column that repeats the row before. A bit vector in front of each row but the first says so.
    pub leaves_out_repeats: bool,
    /// Whether each answer of a session has notices in front: that the service is about to end, and the session's state.
    pub sends_notices: bool,
    /// Bytes of a packet at most.
    pub sdu: u32,
    /// Whether it wants Oracle's own encryption of the network.
    pub requires_encryption: bool,
    /// Whether the account has only the password verifier of version 11.
    pub has_old_verifier: bool,
    /// The port that it listens on; 0 for a free one.
    pub port: u16,
}

impl ScriptedOptions {
    /// The usual server of a release.
    pub fn of(release: ScriptedRelease) -> Self {
        Self { release, ..Self::default() }
    }
}

impl Default for ScriptedOptions {
    fn default() -> Self {
        Self {
            release: ScriptedRelease::default(),
            greeting: ScriptedGreeting::default(),
            refused_logon: None,
            leaves_out_repeats: false,
            sends_notices: false,
            sdu: 8_192,
            requires_encryption: false,
            has_old_verifier: false,
            port: 0,
        }
    }
}

/// What all conversations of a server share.
struct Shared {
    database: Arc<dyn ScriptedDatabase>,
    options: ScriptedOptions,
    counts: Mutex<WireCounts>,
}

/// A server on a free port of the loopback interface; it serves until the test process ends.
pub struct ScriptedOracle {
    port: u16,
    shared: Arc<Shared>,
}

impl ScriptedOracle {
    /// Starts a server that asks `script` what to answer to each statement.
    pub fn start(
        options: ScriptedOptions,
        script: impl Fn(ScriptedCall<'_>) -> ScriptedAnswer + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(options, Arc::new(script))
    }

    /// Starts a server in front of `database`.
    ///
    /// # Panics
    /// The port is taken.
    pub fn start_with(options: ScriptedOptions, database: Arc<dyn ScriptedDatabase>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .unwrap_or_else(|error| panic!("port {} of the loopback interface: {error}", options.port));
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared { database, options, counts: Mutex::default() });
        let of_clients = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&of_clients);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { port, shared }
    }

    /// Its URL, for any user and the service `bench`.
    pub fn url(&self) -> String {
        format!("oracle://dyno@127.0.0.1:{}/bench", self.port)
    }

    /// Its port of the loopback interface.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it has seen so far.
    pub fn counts(&self) -> WireCounts {
        self.shared.counts()
    }
}

/// One client, until it leaves.
fn serve(stream: TcpStream, shared: &Shared) {
    // An answer in several small packets must not wait for the client's acknowledgement.
    if stream.set_nodelay(true).is_ok() {
        // A client that goes away in the middle of a packet is one of the things that tests do.
        let mut conversation = Conversation::new(stream, shared);
        let _ = conversation.run();
        conversation.leave();
    }
}

impl Shared {
    fn execute(
        &self,
        session: u64,
        sql: &str,
        executions: &[Vec<ScriptedValue>],
        is_parsed: bool,
    ) -> ScriptedAnswer {
        self.database.execute(session, ScriptedCall { sql, executions, counts: self.counts(), is_parsed })
    }

    fn describe(&self, session: u64, sql: &str, executions: &[Vec<ScriptedValue>]) -> ScriptedAnswer {
        let call = ScriptedCall { sql, executions, counts: self.counts(), is_parsed: true };
        self.database.describe(session, call)
    }

    fn counts(&self) -> WireCounts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut WireCounts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
