//! Collects a record's figures about everything that can be exhausted.

use dyno_record::metric::without_dust;
use dyno_record::{Host, Metric, RunRecord, Unit};

use super::BottleneckEvidence;
use super::clocks::Shares;
use crate::host_cpu::HostCpu;

/// Share of the sessions in an operation, above which sessions work without a pause.
const WITHOUT_PAUSE: f64 = 0.9;
/// Share of the processors, %, that must be free so that no thread waits for one.
const FREE_PCT: f64 = 25.0;

/// Processor time that a control group allows, and its use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quota {
    /// The quota as a number of processors.
    pub(super) cpus: f64,
    /// Share of it that was used, %.
    pub(super) used_pct: f64,
    /// Share of the periods in which it was used up, %.
    pub(super) throttled_pct: f64,
}

/// The figures of one record.
#[derive(Debug)]
pub(super) struct BottleneckInputs<'r> {
    pub(super) record: &'r RunRecord,
    /// Number of sessions that worked.
    pub(super) sessions: f64,
    /// Sessions in an operation, on average.
    pub(super) busy_sessions: f64,
    /// Whether the database runs inside this process.
    pub(super) in_process: bool,
    /// Whether the database runs on the driver host.
    pub(super) same_host: bool,
    /// The database host, where it was observed and is not the driver host.
    pub(super) remote_host: Option<&'r Host>,
    /// Utilization of the driver host's processors, %, where it is not the database host.
    pub(super) driver_busy_pct: Option<f64>,
    /// Processors of the database host where it was observed, else of the driver host.
    pub(super) cpus: f64,
    /// Processors of the driver host.
    pub(super) driver_cpus: f64,
    /// How busy the processors of the database host were, else of the driver host.
    pub(super) host_cpu: Option<HostCpu>,
    /// Processors that this program used on average.
    pub(super) client_cpus: Option<f64>,
    /// The same for the database's processes; for this program's, where the database runs inside
    /// it.
    pub(super) server_cpus: Option<f64>,
    /// Processors that other programs used on average.
    pub(super) others_cpus: Option<f64>,
    /// Utilization of what its threads and processors allow this program, %.
    pub(super) client_pct: Option<f64>,
    /// Processors that the platform may use, where these are fewer than the host's, and their
    /// utilization, %.
    pub(super) confined: Option<(f64, f64)>,
    /// The CPU quota of this program.
    pub(super) own_quota: Option<Quota>,
    /// The CPU quota of the database.
    pub(super) server_quota: Option<Quota>,
    /// Share of the time in which the device had requests, %.
    pub(super) device_pct: Option<f64>,
    /// Where the sessions' time goes.
    pub(super) shares: Shares,
}

impl<'r> BottleneckInputs<'r> {
    /// The inputs from a record with a window in which sessions worked; `None` for any other.
    pub(super) fn of(record: &'r RunRecord) -> Option<Self> {
        let window = record.window.as_ref().filter(|window| window.seconds > 0.0)?;
        let busy = window.busy_sessions().filter(|busy| *busy > 0.0)?;
        let identity = &record.targets.first()?.identity;
        let (in_process, same_host) = (identity.counting.in_process, identity.same_host);
        let host = record.driver();
        let counter = |name: &str| host.counters.get(name).copied().filter(|value| value.is_finite());
        let elsewhere = record.database_host().filter(|host| is_elsewhere(host));
        let cpus = f64::from(host.cpus);
        let capacity_s = counter("processors.capacity_s").filter(|s| *s > 0.0);
        // Processor use by program was measured over its own period.
        let read_s = capacity_s.filter(|_| cpus > 0.0).map(|s| s / cpus);
        let share = |name: &str| Some(counter(name)? / read_s?);
        let client_cpus = share("own.cpu_s").or_else(|| Some(counter("process.cpu_s")? / window.seconds));
        let driver_cpu = HostCpu::of(host);
        // Processor time of ended processes may be counted late: an amount above the total belongs
        // to others.
        let is_whole = |server: &f64| {
            let all = driver_cpu.map(|cpu| cpu.full_pct() / 100.0 * cpus);
            all.is_none_or(|all| server + client_cpus.unwrap_or(0.0) <= all * 1.1 + 0.1)
        };
        let servers = if in_process { client_cpus } else { share("server.cpu_s") };
        let server = servers.filter(|server| in_process || is_whole(server));
        let metric = |name: &str| record.metrics.get(name).and_then(Metric::value).filter(|v| v.is_finite());
        let of_metrics = || {
            let kinds_pct = metric("cpu_user_pct").zip(metric("cpu_sys_pct"));
            let steal_pct = metric("cpu_steal_pct").unwrap_or(0.0);
            Some(HostCpu { busy_pct: metric("cpu_busy_pct")?, kinds_pct, steal_pct })
        };
        let quota = |whose: &str, used: Option<f64>| {
            let group_counter = |name: &str| counter(&format!("{whose}.cgroup.{name}"));
            let (cpus, periods) =
                (group_counter("quota_cpus")?, group_counter("periods").filter(|periods| *periods > 0.0)?);
            let used = group_counter("used_s").and_then(|used_s| Some(used_s / read_s?)).or(used);
            let throttled_pct = 100.0 * group_counter("throttled_periods")? / periods;
            Some(Quota { cpus, used_pct: 100.0 * used? / cpus, throttled_pct }).filter(|_| cpus > 0.0)
        };
        // For a remote database host, the utilization is known, but not the programs behind it.
        let host_cpu = elsewhere.map_or_else(|| driver_cpu.or_else(of_metrics), HostCpu::of);
        let own_quota = quota("own", client_cpus);
        let allowed = Some(f64::from(host.cpus_allowed)).filter(|allowed| *allowed > 0.0);
        let client_pct = (|| {
            let threads = Some(f64::from(record.gate.threads)).filter(|threads| *threads > 0.0);
            let quota = own_quota.map(|quota| quota.cpus);
            let most = allowed.into_iter().chain(threads).chain(quota).reduce(f64::min)?;
            Some((100.0 * client_cpus? / most).min(100.0)).filter(|_| !in_process)
        })();
        let confined = confined(cpus, allowed, client_cpus, server, in_process, &counter);
        let cpu_s = client_cpus.and_then(|own| match in_process {
            true => Some(own * window.seconds),
            false => Some((own + server?) * window.seconds),
        });
        // The sessions' total time, so the time between operations belongs to no activity.
        let sessions = f64::from(record.sessions()).max(busy);
        Some(Self {
            record,
            sessions,
            busy_sessions: busy,
            in_process,
            same_host,
            remote_host: elsewhere,
            driver_busy_pct: driver_cpu.filter(|_| elsewhere.is_some()).map(HostCpu::full_pct),
            driver_cpus: cpus,
            cpus: elsewhere.map_or(cpus, |host| f64::from(host.cpus)),
            host_cpu,
            client_cpus,
            server_cpus: server,
            others_cpus: share("others.cpu_s").filter(|_| elsewhere.is_none()),
            client_pct,
            confined,
            own_quota,
            // The use of a quota is exact. The host's processor counters use ticks, which often
            // miss the moments in which a throttled process runs.
            server_quota: if in_process { None } else { quota("server", servers) },
            device_pct: metric("device_util_pct"),
            shares: Shares::of(record, window.seconds, sessions * window.seconds, cpu_s),
        })
    }

    /// Share of the processors, %, that programs could not use, because they were busy or taken by the hypervisor.
    pub(super) fn full_pct(&self) -> Option<f64> {
        self.host_cpu.map(HostCpu::full_pct)
    }

    /// A figure of the run.
    pub(super) fn metric(&self, name: &str) -> Option<f64> {
        self.record.metrics.get(name).and_then(Metric::value).filter(|value| value.is_finite())
    }

    /// Share of the host's processors, %, that the platform used: database and client. Unknown where
    /// the database's part is.
    pub(super) fn platform_pct(&self) -> Option<f64> {
        let client_cpus = self.client_cpus.filter(|_| self.remote_host.is_none())?;
        let server_cpus = match (self.in_process, self.same_host) {
            (true, _) => 0.0,
            (false, true) => self.server_cpus?,
            (false, false) => self.server_cpus.unwrap_or(0.0),
        };
        (self.cpus > 0.0).then(|| 100.0 * (client_cpus + server_cpus) / self.cpus)
    }

    /// Share of the host's processors, %, that other programs used.
    pub(super) fn others_pct(&self) -> Option<f64> {
        self.others_cpus.filter(|_| self.cpus > 0.0).map(|others| 100.0 * others / self.cpus)
    }

    /// Whether the sessions were in operations nearly all the time.
    pub(super) fn are_sessions_busy(&self) -> bool {
        self.busy_sessions >= self.sessions * WITHOUT_PAUSE
    }

    /// Whether a quarter of the processors was free, so no thread waited for one.
    pub(super) fn has_free_processors(&self) -> bool {
        let free = |pct: f64| pct < 100.0 - FREE_PCT;
        self.full_pct().is_some_and(free) && self.driver_busy_pct.is_none_or(free)
    }

    /// Every figure that is present, by name.
    pub(super) fn evidence(&self) -> Vec<BottleneckEvidence> {
        let pct_of =
            |cpus: Option<f64>| cpus.filter(|_| self.cpus > 0.0).map(|cpus| 100.0 * cpus / self.cpus);
        let server = self.server_cpus.filter(|_| !self.in_process);
        let shares = &self.shares;
        let Shares { commit, device, row_lock, lock, latch, outside, cpu, syncing, page_cache, .. } = shares;
        let percents = [
            ("cpu_busy_pct", self.host_cpu.map(|cpu| cpu.busy_pct)),
            ("cpu_steal_pct", self.host_cpu.map(|cpu| cpu.steal_pct).filter(|pct| *pct > 0.0)),
            ("driver_cpu_busy_pct", self.driver_busy_pct),
            (
                "client_of_host_pct",
                self.client_cpus.filter(|_| self.driver_cpus > 0.0).map(|own| 100.0 * own / self.driver_cpus),
            ),
            ("database_of_host_pct", pct_of(server)),
            ("others_of_host_pct", self.others_pct()),
            ("client_busy_pct", self.client_pct),
            ("confined_cpus_busy_pct", self.confined.map(|(_, pct)| pct)),
            ("client_quota_used_pct", self.own_quota.map(|quota| quota.used_pct)),
            ("client_quota_throttled_pct", self.own_quota.map(|quota| quota.throttled_pct)),
            ("database_quota_used_pct", self.server_quota.map(|quota| quota.used_pct)),
            ("database_quota_throttled_pct", self.server_quota.map(|quota| quota.throttled_pct)),
            ("device_util_pct", self.device_pct),
            ("time_in_commits_pct", *commit),
            ("time_in_io_pct", *device),
            ("time_in_row_locks_pct", *row_lock),
            ("time_in_locks_pct", *lock),
            ("time_in_latches_pct", *latch),
            ("time_in_other_waits_pct", shares.other_waits.filter(|pct| *pct > 0.0)),
            ("time_connecting_pct", shares.connect),
            ("time_outside_pct", *outside),
            ("time_on_cpu_pct", shares.work),
            ("processor_time_pct", *cpu),
            ("log_syncing_pct", *syncing),
            ("page_cache_pct", *page_cache),
        ];
        let figure = |(name, value, unit): (&str, Option<f64>, Unit)| {
            let value = value.filter(|value| value.is_finite())?;
            Some(BottleneckEvidence { name: name.to_owned(), value: without_dust(value), unit })
        };
        let rest = [
            ("sessions", Some(self.sessions), Unit::Count),
            ("busy_sessions", Some(self.busy_sessions), Unit::Sessions),
            ("redo_sync_latency_us", self.metric("redo_sync_latency_us"), Unit::Microseconds),
            ("physical_read_latency_us", self.metric("physical_read_latency_us"), Unit::Microseconds),
            ("device_read_latency_us", self.metric("device_read_latency_us"), Unit::Microseconds),
            ("device_write_latency_us", self.metric("device_write_latency_us"), Unit::Microseconds),
            ("context_switches_per_s", self.metric("context_switches_per_s"), Unit::PerSecond),
        ];
        let percents = percents.into_iter().map(|(name, value)| (name, value, Unit::Percent));
        percents.chain(rest).filter_map(figure).collect()
    }
}

/// Whether a database's host is not the driver host.
fn is_elsewhere(host: &Host) -> bool {
    host.observed.as_ref().is_some_and(|observed| !observed.is_driver)
}

/// The processors that the platform may use and their utilization, where they are fewer than the
/// host has. They are those of this program where the database is inside it, those that both share,
/// or those of the database.
fn confined(
    cpus: f64,
    allowed: Option<f64>,
    own: Option<f64>,
    server: Option<f64>,
    in_process: bool,
    counter: &dyn Fn(&str) -> Option<f64>,
) -> Option<(f64, f64)> {
    let fewer =
        |few: f64, used: f64| (few > 0.0 && few < cpus).then(|| (few, (100.0 * used / few).min(100.0)));
    if in_process {
        return fewer(allowed?, own?);
    }
    let servers = counter("server.cpus_allowed")?;
    let shared = counter("server.cpus_shared")?;
    // Where both share the same processors, each takes time from the other.
    let used = if shared == servers && allowed == Some(servers) { own? + server? } else { server? };
    fewer(servers, used)
}
