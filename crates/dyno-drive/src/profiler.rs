//! Profiles the window: `perf` starts before the sessions connect and is switched on shortly before the
//! window. Its samples are cut to the time between the snapshots of the machine's counters.
//!
//! A failure never affects the run: a missing profile is absent, with the reason.

use std::time::Duration;

use dyno_host::profile::{Perf, ProfileWindow, cpus_online, frequency_hz, monotonic_ns};
use dyno_plan::Length;
use dyno_record::{CpuKind, CpuProfile, DatabaseIn, Profile, ServerProcesses};

use crate::job::DriveJob;
use crate::measured::RunMeasurement;

/// How long before the window sampling is switched on, so that it works in time on a busy machine.
const LEAD: Duration = Duration::from_millis(500);
/// Assumed length of a run that is limited by operations, s.
const UNKNOWN_S: f64 = 600.0;

/// The profiler of one run.
pub(crate) struct Profiler {
    /// Absent if the plan does not ask for one.
    perf: Option<Result<Perf, String>>,
    is_on: bool,
}

impl Profiler {
    /// Starts it if the plan asks for it; takes a fraction of a second.
    pub(crate) fn start(job: &DriveJob<'_>) -> Self {
        let perf = job.plan.observe.perf.then(|| {
            let cpus = cpus_online()
                .ok_or("perf requires Linux, and this host does not report its number of processors")?;
            let seconds = match job.plan.run.length() {
                Length::Time(time) => time.0.as_secs_f64(),
                Length::Ops(_) => UNKNOWN_S,
            };
            Perf::start(frequency_hz(cpus, seconds))
        });
        Self { perf, is_on: false }
    }

    /// Switches it on if the window begins soon: at `begin_ns`, when it is `now_ns`.
    pub(crate) fn open(&mut self, now_ns: u64, begin_ns: u64) {
        if now_ns + LEAD.as_nanos() as u64 >= begin_ns
            && !self.is_on
            && let Some(Ok(perf)) = &mut self.perf
        {
            perf.enable();
            self.is_on = true;
        }
    }

    /// Switches it off after the window has ended.
    pub(crate) fn close(&mut self) {
        if let Some(Ok(perf)) = &mut self.perf {
            perf.disable();
        }
    }

    /// Ends it and reads its samples of the window; takes as long as the number of samples requires, unless
    /// the user stops it.
    pub(crate) fn finish(&mut self, job: &DriveJob<'_>, measured: &RunMeasurement) -> Option<Profile> {
        let profile = self.perf.take()?.and_then(|perf| {
            let target = measured.targets.first();
            let edges = target.and_then(|target| target.begin.as_ref().zip(target.end.as_ref()));
            let (begin, end) = edges.ok_or("the run has no complete window")?;
            // Both clocks are the machine's monotonic one; ours has its own origin.
            let origin_ns = monotonic_ns().saturating_sub(job.clock.now_ns());
            let cut = ProfileWindow { begin_ns: origin_ns + begin.at_ns(), end_ns: origin_ns + end.at_ns() };
            perf.finish(cut, &measured.processors.readings(), &|| job.cancel.is_cancelled())
        });
        Some(match profile {
            Ok(mut profile) => {
                profile.database = database_in(job, &profile);
                Profile::Taken(Box::new(profile))
            }
            Err(absent) => Profile::Absent { absent },
        })
    }
}

/// Where in the profile the databases' time appears.
fn database_in(job: &DriveJob<'_>, profile: &CpuProfile) -> DatabaseIn {
    let mut identities = job.targets.iter().map(|context| &context.identity);
    if profile.processes.iter().any(|process| process.kind == CpuKind::Database) {
        DatabaseIn::Processes
    } else if identities.clone().any(|identity| identity.processes == ServerProcesses::This) {
        DatabaseIn::Dyno
    } else if identities.all(|identity| !identity.same_host) {
        DatabaseIn::Elsewhere
    } else {
        DatabaseIn::Unknown
    }
}
