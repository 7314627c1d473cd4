//! A server that speaks Oracle's wire protocol and answers from a script. It is a test double: it shows what
//! a client sends, how often it parses, executes and fetches, and how it handles answers and errors. It knows
//! no SQL and is not an Oracle database.
//!
//! It speaks the protocol of one of several releases ([`ScriptedRelease`]). A client does not verify the
//! server, so nothing is encrypted or checked.

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
mod recorded_server;
#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod recording;
mod release;
mod request;
mod user_tables;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use conversation::Conversation;
pub use database::{ScriptedDatabase, SessionLabels};
pub use model::{ModelDatabase, ModelFaults, ModelOptions, ModelWork};
use parking_lot::Mutex;
pub use recorded_server::RecordedServer;
pub use release::ScriptedRelease;
pub use user_tables::UserTables;

/// The answer to a statement.
#[derive(Debug, Clone)]
pub enum ScriptedAnswer {
    Done,
    /// This number of rows was changed, and the transaction is open.
    Changed(u64),
    /// The rows of a query.
    Rows {
        /// Name and type of each column.
        columns: Vec<(&'static str, ScriptedType)>,
        /// The values of each row, in the order of the columns.
        rows: Vec<Vec<ScriptedValue>>,
    },
    /// Returned values of a block's last binds; the block ends the transaction.
    Returned(Vec<ScriptedValue>),
    /// Returned values of a block's binds, by position. The transaction stays open.
    ReturnedAt(Vec<(usize, ScriptedValue)>),
    /// The database's error: number, and text with all its lines.
    Refused(u32, &'static str),
    /// An error whose text is built for this call.
    RefusedWith(u32, String),
    /// An error after the database had begun to answer: a marker makes the earlier data void.
    RefusedByMarker(u32, &'static str),
    /// An object was created with compilation errors.
    CreatedWithErrors,
    /// No answer until the client disconnects.
    Hang,
    /// No answer until the client cancels the call, then ORA-01013.
    AwaitBreak,
    /// The connection ends within this answer, after this number of bytes.
    CutOff(Box<ScriptedAnswer>, usize),
}

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
    /// BINARY_DOUBLE.
    Double,
    /// CLOB; a client must ask for its text before it fetches rows.
    Clob,
    /// BLOB; as with a CLOB.
    Blob,
}

impl ScriptedType {
    /// Whether rows with such a column are sent only after the client has said how it wants its values.
    fn is_lob(self) -> bool {
        matches!(self, Self::Clob | Self::Blob)
    }
}

/// A value of a bind or a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedValue {
    Null,
    /// A whole number, as a NUMBER.
    Int(i64),
    /// Any other number, in decimal digits.
    Decimal(String),
    /// A text, as a VARCHAR2 in UTF-8.
    Text(String),
    /// Bytes of a DATE, TIMESTAMP, BINARY_DOUBLE, RAW or BLOB in wire format.
    Raw(Vec<u8>),
}

impl ScriptedValue {
    /// The bytes of a BINARY_DOUBLE. They sort like the numbers: the sign is inverted, and negative numbers
    /// have all bits inverted.
    pub fn double(number: f64) -> Self {
        let bits = number.to_bits();
        let bits = if number.is_sign_negative() { !bits } else { bits ^ (1 << 63) };
        Self::Raw(bits.to_be_bytes().to_vec())
    }

    /// The bytes of a time in the format of DATE and TIMESTAMP.
    pub fn moment(year: u16, month: u8, day: u8, hour: u8, minute: u8, seconds: u8) -> Self {
        let (century, year) = ((year / 100 + 100) as u8, (year % 100 + 100) as u8);
        Self::Raw(vec![century, year, month, day, hour + 1, minute + 1, seconds + 1])
    }
}

/// What a server counted of its clients' requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WireCounts {
    /// Statements sent with their text.
    pub parses: u64,
    /// Executions of statements parsed before.
    pub re_executions: u64,
    /// Requests for more rows of an open cursor.
    pub fetches: u64,
    /// Cursors that clients closed; each counts once.
    pub closed_cursors: u64,
    /// Commits sent as a separate message.
    pub commits: u64,
    /// Rollbacks sent as a separate message.
    pub rollbacks: u64,
    /// Requests; each is answered once.
    pub round_trips: u64,
    /// Received packets that were larger than agreed.
    pub oversized_packets: u64,
    pub breaks: u64,
    /// Resets of both sides after a break by either.
    pub resets: u64,
}

/// A call that a script answers.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedCall<'a> {
    /// The statement's text as the client sent it.
    pub sql: &'a str,
    /// Its binds, one list for each execution; NULL if the statement is only parsed.
    pub executions: &'a [Vec<ScriptedValue>],
    /// Counts of all clients before this call.
    pub counts: WireCounts,
    /// Whether the call contained the text, so that the statement is parsed.
    pub is_parsed: bool,
}

/// How a server answers a connection request, like a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScriptedGreeting {
    /// Accepts it; the conversation follows.
    #[default]
    Accept,
    /// Accepts it and answers nothing afterwards.
    AcceptAndHang,
    /// Requests it again this many times, then accepts it.
    Resend(u32),
    /// Redirects the client to this port of the loopback interface.
    Redirect(u16),
    /// Refuses it with this listener error: 12514.
    Refuse(u32),
}

/// How a server differs from the default.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedOptions {
    /// The release whose protocol it speaks.
    pub release: ScriptedRelease,
    /// Its answer to a connection request.
    pub greeting: ScriptedGreeting,
    /// Error for each log-on: number and text. `None` accepts every user.
    pub refused_logon: Option<(u32, &'static str)>,
    /// Whether a row omits columns that repeat the row before. A bit vector before each row except the first
    /// marks them.
    pub leaves_out_repeats: bool,
    /// Whether notices precede each answer of a session: that the service is about to end, and the session's
    /// state.
    pub sends_notices: bool,
    /// Maximum bytes of a packet.
    pub sdu: u32,
    /// Whether it requires Oracle's own network encryption.
    pub requires_encryption: bool,
    /// Whether the account has only the password verifier of version 11.
    pub has_old_verifier: bool,
    /// The port on which it listens; 0 for a free one.
    pub port: u16,
}

impl ScriptedOptions {
    /// The default server of a release.
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

/// State shared by all conversations of a server.
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
    /// Starts a server that gets each answer from `script`.
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

    /// Its URL for any user and the service `bench`.
    pub fn url(&self) -> String {
        format!("oracle://dyno@127.0.0.1:{}/bench", self.port)
    }

    /// Its port on the loopback interface.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn counts(&self) -> WireCounts {
        self.shared.counts()
    }
}

/// Serves one client until it leaves.
fn serve(stream: TcpStream, shared: &Shared) {
    // An answer in several small packets must not wait for the client's acknowledgment.
    if stream.set_nodelay(true).is_ok() {
        // Some tests disconnect a client in the middle of a packet.
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
        *self.counts.lock()
    }

    fn count(&self, change: impl FnOnce(&mut WireCounts)) {
        change(&mut self.counts.lock());
    }
}
