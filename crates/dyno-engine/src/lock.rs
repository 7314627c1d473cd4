//! Locks a target, so that only one Dyno works on it at a time.
//!
//! Two runs on one target measure each other, and a load during a run spoils both; neither run's figures show
//! it. So a command that changes or measures data takes a lock inside the target, where every other Dyno
//! finds it from any host. The lock is advisory: only Dyno processes respect it. It belongs to one command; a
//! process may run several commands. It ends with the command or its process, however that ends, and never
//! has to be cleared by hand.
//!
//! The server has a lock too. Redo, writes, checkpoints and CPU are counted for all its databases together,
//! so two Dynos on two databases of one server also measure each other. A command that has the target's lock
//! then takes the server's, alone or shared. SQLite has no server but a device, which all programs of the
//! machine share: there Dyno names other commands and does not refuse.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{TargetError, TargetErrorKind};

/// The work for which a command holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockPurpose {
    /// Loading data with `dyno load`.
    Load,
    /// `dyno run`, and every other command that drives load.
    Run,
    /// Dropping data with `dyno drop`.
    Drop,
    /// Proving durability with `dyno prove`.
    Prove,
}

dyno_plan::names! {
    /// The name of the command: `load`.
    LockPurpose { Load = "load", Run = "run", Drop = "drop", Prove = "prove" }
}

/// The part of the server that a Dyno claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The whole server: no other Dyno may work on any of its databases.
    Alone,
    /// A part: other Dynos may work on other databases, if they share the server too.
    Shared,
}

/// The command that holds a target's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The work it does on the target.
    pub work: LockPurpose,
    /// The host it runs on, up to the first dot.
    pub host: String,
    /// Its process number on that host.
    pub pid: u32,
    /// The number of the command within its process, from 1.
    pub command: u32,
    /// When it took the lock: RFC 3339 in UTC, to the second, by its own host's clock.
    pub since: String,
}

impl Holder {
    /// A new command of this process, which holds locks from now on.
    pub fn this_process(work: LockPurpose) -> Self {
        static COMMANDS: AtomicU32 = AtomicU32::new(1);
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host: String = name.trim().split('.').next().unwrap_or_default().to_owned();
        let now = dyno_record::now_rfc3339();
        let since = format!("{}Z", now.split('.').next().unwrap_or_default());
        let command = COMMANDS.fetch_add(1, Ordering::Relaxed);
        Self { work, host: plain(&host), pid: std::process::id(), command, since }
    }

    /// Encodes the holder as words. The host is last, so that truncation shortens only the host's name.
    pub fn encode(&self) -> String {
        format!("{} {} {}.{}@{}", self.work.name(), self.since, self.pid, self.command, self.host)
    }

    /// Reads the text of [`Holder::encode`]; ignores more words after it.
    pub fn decode(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let name = words.next()?;
        let work = LockPurpose::from_name(name)?;
        let since = words.next()?.to_owned();
        let (number, host) = words.next()?.split_once('@')?;
        let (pid, command) = number.split_once('.')?;
        let (pid, command) = (pid.parse().ok()?, command.parse().ok()?);
        Some(Self { work, host: host.to_owned(), pid, command, since })
    }
}

/// A host's name without characters that could be taken for a separator.
fn plain(host: &str) -> String {
    let sanitized: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    if sanitized.is_empty() { "unknown".to_owned() } else { sanitized }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, host, pid, since, .. } = self;
        write!(f, "dyno {} on host {host}, process {pid}, since {since}", work.name())
    }
}

/// A lock that is held; dropping it releases the lock.
#[must_use = "the lock is released as soon as this is dropped"]
pub struct Lock {
    _guard: Option<Box<dyn Any + Send>>,
    caveat: Option<String>,
}

impl Lock {
    /// A lock that is held as long as `guard` lives.
    pub fn held(guard: impl Any + Send) -> Self {
        Self { _guard: Some(Box::new(guard)), caveat: None }
    }

    /// A lock that `connection` holds; `close` ends the connection, since servers log an abrupt end.
    pub fn held_by<C: Send + 'static>(connection: C, close: fn(C)) -> Self {
        Self::held(Closing(Some(connection), close))
    }

    /// The lock of a target that no other process can reach.
    pub fn needless() -> Self {
        Self { _guard: None, caveat: None }
    }

    /// No lock; `why` is the reason.
    pub fn impossible(why: impl Into<String>) -> Self {
        Self { _guard: None, caveat: Some(why.into()) }
    }

    /// This lock, with a caveat for the user.
    pub fn but(self, caveat: impl Into<String>) -> Self {
        Self { caveat: Some(caveat.into()), ..self }
    }

    /// Why the lock does not exclude others, or which others are there despite it; Dyno shows it to the user.
    pub fn caveat(&self) -> Option<&str> {
        self.caveat.as_deref()
    }
}

/// A connection, and the function that closes it.
struct Closing<C>(Option<C>, fn(C));

impl<C> Drop for Closing<C> {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            (self.1)(connection);
        }
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").field("held", &self._guard.is_some()).field("caveat", &self.caveat).finish()
    }
}

/// The error that another command, `holder` if known, uses the target called `target`.
pub fn busy(target: &str, holder: Option<&Holder>, hint: String) -> TargetError {
    TargetError::new(TargetErrorKind::Busy, format!("{target} is in use by {}", describe_holder(holder)))
        .hint(hint)
}

/// The error that another command, `holder` if known, uses the server of the target called `target`, in the
/// database `place` if known. `end` says how to end a holder that hangs.
pub fn server_busy(target: &str, holder: Option<&Holder>, place: Option<&str>, end: &str) -> TargetError {
    let place = place.map_or(String::new(), |place| format!(", in {place}"));
    let message = format!("the server of {target} is in use by {}{place}", describe_holder(holder));
    TargetError::new(TargetErrorKind::Busy, message).hint(format!(
        "wait until it ends: redo, writes and CPU are counted for the whole server, so each run would \
        include the other's activity; with target.shared = true in both plans they run at the same time, \
        and the server's figures are marked; {end}"
    ))
}

fn describe_holder(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => holder.to_string(),
        None => "another dyno process that has not identified itself yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_holder_round_trip_is_lossless() {
        for work in LockPurpose::ALL {
            let holder = Holder::this_process(work);
            assert_eq!(Holder::decode(&holder.encode()), Some(holder.clone()));
            assert_eq!(Holder::decode(&format!("{} my own words", holder.encode())), Some(holder.clone()));
            let words = holder.to_string();
            let pid = std::process::id().to_string();
            assert!(words.contains(work.name()));
            assert!(words.contains(&pid));
            assert!(words.contains(&holder.since));
        }
    }

    #[test]
    fn two_commands_of_one_process_are_distinct_lock_holders() {
        let (one, other) = (Holder::this_process(LockPurpose::Run), Holder::this_process(LockPurpose::Run));
        assert_eq!(one.pid, other.pid);
        assert_ne!(Holder::decode(&one.encode()), Holder::decode(&other.encode()));
    }

    #[test]
    fn truncated_lock_name_still_identifies_its_holder() {
        let holder = Holder { host: "h".repeat(80), ..Holder::this_process(LockPurpose::Load) };
        let cut: String = format!("dyno lock {}", holder.encode()).chars().take(63).collect();
        let read = Holder::decode(cut.strip_prefix("dyno lock ").unwrap()).unwrap();
        assert_eq!((read.pid, read.since, read.work), (holder.pid, holder.since, LockPurpose::Load));
        assert!(read.host.starts_with("hhhhhhhhhh"), "{}", read.host);
    }

    #[test]
    fn invalid_text_is_not_decoded_as_lock_holder() {
        for text in ["", "run", "run now 1", "walk now 1.1@h", "run now x.1@h", "run now 1@h", "run now 1.1@"]
        {
            assert!(Holder::decode(text).is_none_or(|holder| holder.host.is_empty()), "{text}");
        }
    }
}
