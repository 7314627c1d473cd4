//! What leader and agents say to each other: JSON with a version, and limits on all of it, for a message may come from anybody who can
//! reach the meeting point.

use dyno_drive::{Interval, Standing};
use dyno_engine::target::Stuck;
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Host, Identity};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of these messages. Whoever speaks another one is refused.
pub const PROTOCOL: u32 = 1;
/// A message's bytes at most; a NATS server takes a megabyte where nobody changed that.
pub(crate) const MESSAGE_BYTES_MAX: usize = 900 * 1024;
/// Bytes of one piece of what is handed in.
pub(crate) const PIECE_BYTES: usize = 256 * 1024;
/// Bytes that an agent may hand in, beside those for each of its sessions, as they travel.
pub(crate) const HANDED_BYTES_MAX: usize = 32 << 20;
/// The same for each session, unpacked.
pub(crate) const SESSION_BYTES_MAX: usize = 64 << 10;
/// Hosts of a run at most, and sessions.
pub(crate) const HOSTS_MAX: usize = 4_096;
pub(crate) const SESSIONS_MAX: u32 = 4_000_000;
/// Characters of a name at most.
pub(crate) const NAME_MAX: usize = 80;

/// Who leads, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leader {
    /// A number that nobody else has.
    pub(crate) id: String,
    /// `host db1, process 4711, since 2026-11-25T02:30:00Z`.
    pub(crate) words: String,
}

/// A leader asks who is there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    pub(crate) leader: Leader,
}

/// An agent says that it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    /// A number that nobody else has; it is part of the agent's subject.
    pub(crate) id: String,
    pub(crate) name: String,
    /// Its place among the agents, where its placement has given it one.
    pub(crate) place: Option<u32>,
    pub(crate) cpus: u32,
    /// Whoever has reserved it.
    pub(crate) busy: Option<Leader>,
    /// Runs of which it keeps what it measured.
    pub(crate) keeps: u32,
}

/// What is known of a target, which only the leader observes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Known {
    /// What it is.
    pub identity: Identity,
    /// The data that it holds.
    pub spec: DataSpec,
    /// Why its sessions only read, if they do.
    pub reads_only: Option<String>,
}

/// A part of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) run_id: String,
    pub(crate) started_at: String,
    pub(crate) run_stamp: u64,
    pub(crate) plan: Plan,
    pub(crate) targets: Vec<Known>,
    /// Versions of the workloads of the user's own.
    pub(crate) workloads: Vec<String>,
    /// The weights of all hosts, and which of them this is.
    pub(crate) weights: Vec<u32>,
    pub(crate) rank: u32,
}

/// What an agent is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// What its clock shows; asked all the time, so that it knows that its leader is there.
    Clock(String),
    /// To be there for this leader alone, and to go on for so many milliseconds without hearing of it.
    Reserve { leader: Leader, silence_ms: u64 },
    /// To lead a part of a run.
    Lead(Box<Order>),
    /// To do something in the run of that name.
    Do(String, Step),
    /// To be free for others.
    Release(String),
    /// Which runs it keeps.
    Kept,
    /// A piece of what it keeps of a run.
    Piece { run_id: String, number: u32 },
    /// To keep a run no more: somebody has it.
    Forget(String),
}

/// A step of a run. Moments are on the agent's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Sessions connect.
    Connect,
    /// Sessions start then.
    Gate { opens_ns: u64 },
    /// The window begins then, and ends then if that is known.
    Open { origin_ns: u64, ends_ns: Option<u64> },
    /// Its begin is read.
    Enter,
    /// The counters of these targets (one bit each) at an edge are read next.
    Looking { edge: u8, targets: u64 },
    /// Those of one are there.
    Looked { edge: u8, target: u32, answered_ns: u64 },
    /// The window ends then.
    Close { at_ns: u64 },
    /// Sessions end, within so much for operations under way.
    Stop { drain_ms: u64 },
    /// Nobody waits any more.
    Hurry,
}

/// What an agent answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    Clock {
        heard_ns: u64,
        said_ns: u64,
    },
    /// It does as it was asked; so much too late, ns.
    Done {
        late_ns: u64,
    },
    /// It leads the part, on this machine.
    Leads(Box<Host>),
    /// It does not, and why.
    Refused(String),
    Kept(Vec<KeptRun>),
    /// Bytes follow the message.
    Piece {
        of: u32,
    },
}

/// A run of which an agent keeps what it measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    pub(crate) run_id: String,
    pub(crate) rank: u32,
    pub(crate) of: u32,
    pub(crate) bytes: u64,
}

/// What an agent reports of its part of a run; the one with the highest number holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) rank: u32,
    pub(crate) number: u64,
    /// Whether it has reached all targets, and found them to be those of the leader.
    pub(crate) reached: bool,
    pub(crate) standing: Standing,
}

/// What an agent hands over and wants acknowledged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Upload {
    /// What its sessions did in intervals, the how manieth such message, from 0.
    Intervals { rank: u32, number: u64, intervals: Vec<Interval> },
    /// A piece of what it hands in, whose bytes follow; `sum` is that of all of them.
    Piece { rank: u32, number: u32, of: u32, sum: String },
}

/// What it gets for that.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Receipt {
    Have,
    /// It is not taken, and why.
    Refused(String),
}

/// What an agent hands in of a run when its sessions have ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HandedIn {
    pub(crate) results: dyno_drive::Results,
    pub(crate) threads: u32,
    /// Numbers of sessions that had to be broken off, and what their servers say.
    pub(crate) broken_off: Vec<u32>,
    pub(crate) stuck: Vec<(String, bool)>,
    /// Whether its sessions ended because nothing was heard of the leader.
    pub(crate) alone: bool,
    pub(crate) closed_ns: Option<u64>,
    pub(crate) use_of_host: UseOfHost,
}

/// What of the driver host was used in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UseOfHost {
    pub(crate) cpu_busy_pct: Option<f64>,
    pub(crate) client_cpus: Option<f64>,
    pub(crate) send_queue_bytes_max: Option<u64>,
}

impl HandedIn {
    pub(crate) fn stuck(&self) -> Vec<Stuck> {
        self.stuck.iter().map(|(words, full)| Stuck { words: words.clone(), full: *full }).collect()
    }
}

/// As bytes.
pub(crate) fn written(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have names as keys and no maps of other things")
}

/// As bytes, with more bytes behind it.
pub(crate) fn written_with(message: &impl Serialize, rest: &[u8]) -> Vec<u8> {
    let mut bytes = written(message);
    // JSON on one line has no such byte.
    bytes.push(b'\n');
    bytes.extend_from_slice(rest);
    bytes
}

/// A message that came, and the bytes behind it.
///
/// # Errors
/// It is none, in words.
pub(crate) fn read_with<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), String> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(format!("a message of {} bytes, more than {MESSAGE_BYTES_MAX}", bytes.len()));
    }
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (head, rest) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 1..]));
    let read =
        serde_json::from_slice(head).map_err(|error| format!("no message of this version: {error}"))?;
    Ok((read, rest))
}

/// A message that came.
///
/// # Errors
/// It is none, in words.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    read_with(bytes).map(|(message, _)| message)
}

/// The subjects of a group.
#[derive(Debug, Clone)]
pub(crate) struct Subjects(String);

impl Subjects {
    /// Of a group; a name that is no part of a subject is refused.
    pub(crate) fn of(group: &str) -> Result<Self, String> {
        is_name(group).then(|| Self(format!("dyno.{group}"))).ok_or_else(|| {
            format!("{group:?} is no name of a group: letters, digits, - and _, {NAME_MAX} at most")
        })
    }

    /// Where all agents hear.
    pub(crate) fn all(&self) -> String {
        format!("{}.all", self.0)
    }

    /// Where one agent hears.
    pub(crate) fn agent(&self, id: &str) -> String {
        format!("{}.agent.{id}", self.0)
    }

    /// Where the leader of a run hears what agents report.
    pub(crate) fn reports(&self, run_id: &str) -> String {
        format!("{}.report.{run_id}", self.0)
    }

    /// Where it takes what they hand over.
    pub(crate) fn uploads(&self, run_id: &str) -> String {
        format!("{}.upload.{run_id}", self.0)
    }
}

/// Whether this can be a part of a subject.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(is_part)
}

/// What came from elsewhere as a line of text: no control characters, and not too long.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_travel_behind_a_message() {
        let upload = Upload::Piece { rank: 3, number: 1, of: 2, sum: "ab".into() };
        let bytes = written_with(&upload, b"\nany\n\0bytes");
        let (read, rest) = read_with::<Upload>(&bytes).unwrap();
        assert!(matches!(read, Upload::Piece { rank: 3, number: 1, of: 2, .. }));
        assert_eq!(rest, b"\nany\n\0bytes");
    }

    #[test]
    fn what_is_too_long_or_no_message_is_refused_in_words() {
        assert!(read::<Ask>(&vec![b'x'; MESSAGE_BYTES_MAX + 1]).unwrap_err().contains("bytes"));
        assert!(read::<Ask>(b"{\"Fly\":1}").unwrap_err().contains("version"));
        assert!(read::<Ask>(&[b'['; 100_000]).is_err(), "depth is limited");
    }

    #[test]
    fn a_group_is_a_name_and_no_subject_of_others() {
        assert!(Subjects::of("oltp_1").is_ok());
        for wrong in ["", "a.b", "a>", "*", "a b", &"x".repeat(NAME_MAX + 1)] {
            assert!(Subjects::of(wrong).is_err(), "{wrong:?}");
        }
    }
}
