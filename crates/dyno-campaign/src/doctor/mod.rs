//! Inspects this machine for everything that distorts measurements, without a database.

mod rules;

use std::path::Path;
use std::time::{Duration, Instant};

use dyno_host::profile::{Perf, frequency_hz};
use dyno_host::{CpuShare, HostDelta, HostObserver};
use dyno_record::{Advice, Host};

/// How long the processors' use by others is observed.
const OBSERVED: Duration = Duration::from_secs(1);

/// What is known of a machine before a measurement.
#[derive(Debug, Clone)]
pub struct HostInspection {
    pub host: Host,
    /// How the processors were used while Dyno did nothing. Absent without `/proc`.
    pub idle: Option<CpuShare>,
    /// Whether the kernel tells how long threads waited for resources (`/proc/pressure`).
    pub has_pressure: bool,
    /// Files and connections that this process may have open at once. Absent where there is no limit.
    pub files_max: Option<u64>,
    /// Why `perf` cannot sample the processors, and what helps.
    pub perf: Result<(), String>,
}

/// Reads the facts of this machine and observes it for a second. `paths` are the places of a run, such as
/// `("repository", "/var/lib/dyno")`.
pub fn inspect_host(paths: &[(&str, &Path)]) -> HostInspection {
    let mut observer = HostObserver::new(paths);
    let (begin, start) = (observer.snapshot(), Instant::now());
    std::thread::sleep(OBSERVED);
    let delta = HostDelta::between(&begin, &observer.snapshot(), start.elapsed().as_secs_f64());
    let host = dyno_host::facts(paths);
    let perf = Perf::start(frequency_hz(host.cpus.max(1), OBSERVED.as_secs_f64())).map(drop);
    HostInspection {
        idle: delta.cpu,
        has_pressure: !delta.pressure.is_empty(),
        files_max: dyno_drive::open_files_max(),
        perf,
        host,
    }
}

/// The findings about a machine, in the order of the checks; each says what it distorts, and what helps.
pub fn host_advice(inspection: &HostInspection) -> Vec<Advice> {
    rules::RULES.iter().filter_map(|rule| rule(inspection)).collect()
}
