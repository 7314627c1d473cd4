//! One Dyno at a time on one target.
//!
//! Two runs on one target measure each other, and a load under a run spoils both; neither shows in either's own figures.
//! So whoever changes or measures takes a lock that lies in the target itself, where every other Dyno finds it whatever
//! host it runs on. It is advisory: it binds Dynos, not others. It belongs to one command, of which a process may lead several:
//! it ends with that, or with its process, however that ends, and nothing is ever left to be cleared by hand.
//!
//! Beside it lies the lock of the server: redo, writes, checkpoints and CPU are counted for all its databases together, so
//! two Dynos on two databases of one server measure each other as well. Who takes the target's lock takes the server's
//! after it, alone, or together with others who share it. SQLite has no server but a device, which belongs to everybody on
//! the machine: there others are named, not refused.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{TargetError, TargetErrorKind};

/// What the holder of a lock does with the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// `dyno load`.
    Load,
    /// `dyno run`, and whatever else drives load.
    Run,
    /// `dyno drop`.
    Drop,
    /// `dyno prove`.
    Prove,
}

dyno_plan::names! {
    /// The command's name: `load`.
    Work { Load = "load", Run = "run", Drop = "drop", Prove = "prove" }
}

/// How much of the server a Dyno claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// All of it: no other Dyno may be at work on any of its databases.
    Alone,
    /// A part: others may be at work on other databases, if they share it too.
    Shared,
}

/// Who holds a target's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// What it does.
    pub work: Work,
    /// The host it runs on, up to the first dot.
    pub host: String,
    /// Its process number there.
    pub pid: u32,
    /// Which of its process's commands it is, from 1.
    pub command: u32,
    /// Since when it holds the lock: RFC 3339 in UTC, to the second, by its own host's clock.
    pub since: String,
}

impl Holder {
    /// A command of this process, another one with each call, from now on.
    pub fn this_process(work: Work) -> Self {
        static COMMANDS: AtomicU32 = AtomicU32::new(1);
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host: String = name.trim().split('.').next().unwrap_or_default().to_owned();
        let now = dyno_record::now_rfc3339();
        let since = format!("{}Z", now.split('.').next().unwrap_or_default());
        let command = COMMANDS.fetch_add(1, Ordering::Relaxed);
        Self { work, host: plain(&host), pid: std::process::id(), command, since }
    }

    /// As one word after the other, the host last, so that what cuts the text off cuts only the host's name.
    pub fn encode(&self) -> String {
        format!("{} {} {}.{}@{}", self.work.name(), self.since, self.pid, self.command, self.host)
    }

    /// Reads what [`Holder::encode`] wrote; more words behind it are somebody else's.
    pub fn decode(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let name = words.next()?;
        let work = Work::from_name(name)?;
        let since = words.next()?.to_owned();
        let (number, host) = words.next()?.split_once('@')?;
        let (pid, command) = number.split_once('.')?;
        let (pid, command) = (pid.parse().ok()?, command.parse().ok()?);
        Some(Self { work, host: host.to_owned(), pid, command, since })
    }
}

/// A host's name without what could be taken for a separator.
fn plain(host: &str) -> String {
    let kept: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    if kept.is_empty() { "unknown".to_owned() } else { kept }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, host, pid, since, .. } = self;
        write!(f, "dyno {} on host {host}, process {pid}, since {since}", work.name())
    }
}

/// A lock that is held; dropped, it is released.
#[must_use = "the lock is released as soon as this is dropped"]
pub struct Lock {
    _guard: Option<Box<dyn Any + Send>>,
    caveat: Option<String>,
}

impl Lock {
    /// A lock that `guard` holds while it lives.
    pub fn held(guard: impl Any + Send) -> Self {
        Self { _guard: Some(Box::new(guard)), caveat: None }
    }

    /// A lock that `connection` holds, which ends by `close`: one that breaks off is an event in the log of a server.
    pub fn held_by<C: Send + 'static>(connection: C, close: fn(C)) -> Self {
        Self::held(Closing(Some(connection), close))
    }

    /// The lock of a target that nobody else can reach.
    pub fn needless() -> Self {
        Self { _guard: None, caveat: None }
    }

    /// No lock, because of `why`.
    pub fn impossible(why: impl Into<String>) -> Self {
        Self { _guard: None, caveat: Some(why.into()) }
    }

    /// This lock, with a reservation.
    pub fn but(self, caveat: impl Into<String>) -> Self {
        Self { caveat: Some(caveat.into()), ..self }
    }

    /// Why others are not kept out, or are there in spite of the lock: to be told to the user.
    pub fn caveat(&self) -> Option<&str> {
        self.caveat.as_deref()
    }
}

/// A connection, and how it ends.
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

/// The refusal because `holder`, if it is known, is at work on the target called `target`.
pub fn busy(target: &str, holder: Option<&Holder>, hint: String) -> TargetError {
    TargetError::new(TargetErrorKind::Busy, format!("{target} is in use by {}", who(holder))).hint(hint)
}

/// The refusal because `holder`, if it is known, is at work on the server of the target called `target`, in the database
/// called `place` where that is known. `end` says how a holder that hangs is ended.
pub fn server_busy(target: &str, holder: Option<&Holder>, place: Option<&str>, end: &str) -> TargetError {
    let place = place.map_or(String::new(), |place| format!(", in {place}"));
    let message = format!("the server of {target} is in use by {}{place}", who(holder));
    TargetError::new(TargetErrorKind::Busy, message).hint(format!(
        "wait until it has ended: redo, writes and CPU are the server's, so each would measure the other; with target.shared = \
         true in both plans they run side by side, and the server's figures are marked; {end}"
    ))
}

fn who(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => holder.to_string(),
        None => "another dyno, which has not said yet which one it is".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_read_as_it_was_written() {
        for work in Work::ALL {
            let holder = Holder::this_process(work);
            assert_eq!(Holder::decode(&holder.encode()), Some(holder.clone()));
            assert_eq!(Holder::decode(&format!("{} my own words", holder.encode())), Some(holder.clone()));
            let words = holder.to_string();
            let pid = std::process::id().to_string();
            assert!(words.contains(work.name()) && words.contains(&pid) && words.contains(&holder.since));
        }
    }

    #[test]
    fn two_commands_of_one_process_are_two_holders() {
        let (one, other) = (Holder::this_process(Work::Run), Holder::this_process(Work::Run));
        assert_eq!(one.pid, other.pid);
        assert_ne!(Holder::decode(&one.encode()), Holder::decode(&other.encode()));
    }

    #[test]
    fn a_name_that_is_cut_off_still_says_who_it_is() {
        let holder = Holder { host: "h".repeat(80), ..Holder::this_process(Work::Load) };
        let cut: String = format!("dyno lock {}", holder.encode()).chars().take(63).collect();
        let read = Holder::decode(cut.strip_prefix("dyno lock ").unwrap()).unwrap();
        assert_eq!((read.pid, read.since, read.work), (holder.pid, holder.since, Work::Load));
        assert!(read.host.starts_with("hhhhhhhhhh"), "{}", read.host);
    }

    #[test]
    fn what_is_no_holder_is_not_taken_for_one() {
        for text in ["", "run", "run now 1", "walk now 1.1@h", "run now x.1@h", "run now 1@h", "run now 1.1@"]
        {
            assert!(Holder::decode(text).is_none_or(|holder| holder.host.is_empty()), "{text}");
        }
    }
}
