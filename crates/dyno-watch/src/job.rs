//! What is observed, and how.

use std::path::PathBuf;
use std::sync::Arc;

use dyno_engine::{Cancel, Clock, Target};
use dyno_observe::RemoteHost;
use dyno_record::{Identity, StartedRun};

/// What is observed, and how.
pub struct ObservationJob {
    /// The run as the repository noted it at its start.
    pub begun: StartedRun,
    pub target: Arc<dyn Target>,
    /// The server's product, version and settings.
    pub identity: Identity,
    /// Named places on this host whose devices are observed: `data`, `redo`.
    pub host_paths: Vec<(String, PathBuf)>,
    /// The database's machine, if it is observed and is not this one.
    pub remote_host: Option<Arc<RemoteHost>>,
    /// Spacing of the series, s.
    pub interval_s: f64,
    /// Length of the observation, s.
    pub length_s: f64,
    /// Samples of sessions per second; 0 switches sampling off.
    pub samples_per_s: f64,
    pub clock: Arc<dyn Clock>,
    /// The user's request to stop.
    pub cancel: Cancel,
    /// The version of Dyno, for the record.
    pub dyno_version: String,
    /// The most points of the record's series.
    pub series_points_max: usize,
}
