//! The events of an observation.

use dyno_observe::CumulativeCounters;
use dyno_record::{SeriesChunk, SeriesPoint};

/// The events of an observation.
#[derive(Debug, Clone, PartialEq)]
pub enum ObservationEvent {
    /// It has begun; what could not be read, each with its reason.
    Begun(Vec<String>),
    /// An interval has ended, with its figures.
    Interval(Box<ObservedInterval>),
    /// A final point of the series.
    Final(SeriesChunk),
    /// The connection is lost, or the server does not answer, for this reason. Dyno tries again.
    Lost(String),
    /// The connection is back, after a gap of this many seconds.
    Back(f64),
    /// Counters were reset, for this reason; the interval has no figures.
    Anew(String),
}

/// The state at the end of an interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedInterval {
    /// Seconds since the observation began.
    pub elapsed_s: f64,
    /// Planned length of the observation, s.
    pub total_s: f64,
    /// The last interval, with its rates; absent while the server is away or does not answer.
    pub point: Option<SeriesPoint>,
    /// The waits of its sessions: class and event with the mean number of sessions, most first; at most four.
    pub waits: Vec<(String, f64)>,
    /// All waits: class, event and the mean number of sessions; absent if sessions are not sampled.
    pub events: Option<Vec<(String, String, f64)>>,
    /// The server's cumulative counters as last read; absent while it is away or does not answer.
    pub counters: Option<CumulativeCounters>,
}
