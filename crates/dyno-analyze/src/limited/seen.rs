//! What a record tells of the things that can be used up.

use dyno_record::{Host, Metric, RunRecord, Unit};

use super::Evidence;
use super::clocks::Shares;

/// Processor time that a control group allows, and what was had of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quota {
    /// Processors' worth.
    pub(super) cpus: f64,
    /// Share of it that was used, %.
    pub(super) used_pct: f64,
    /// Share of the periods in which it was used up, %.
    pub(super) throttled_pct: f64,
}

/// The figures of one record.
#[derive(Debug)]
pub(super) struct Seen<'r> {
    pub(super) record: &'r RunRecord,
    /// Sessions that worked.
    pub(super) sessions: f64,
    /// Sessions in an operation, on average.
    pub(super) busy: f64,
    /// Whether the database runs inside this program.
    pub(super) in_process: bool,
    /// Whether the database runs on the host that drives.
    pub(super) same_host: bool,
    /// The database's host, where that was looked at and is another one than the driving.
    pub(super) elsewhere: Option<&'r Host>,
    /// Share of the driving host's processors that was in use, %, where that is not the database's.
    pub(super) driver_busy_pct: Option<f64>,
    /// Processors of the database's host, as far as it was looked at, else of the driving one.
    pub(super) cpus: f64,
    /// Processors of the driving host.
    pub(super) driver_cpus: f64,
    /// Share of the host's processors that was in use or taken by the hypervisor, %.
    pub(super) busy_pct: Option<f64>,
    /// The parts of `busy_pct`, %: programs, the kernel with interrupts, the hypervisor.
    pub(super) kinds: Option<(f64, f64, f64)>,
    /// Processors' worth of time that this program had.
    pub(super) own: Option<f64>,
    /// The same of the database's processes; this program's, where it runs inside.
    pub(super) server: Option<f64>,
    /// The same of others.
    pub(super) others: Option<f64>,
    /// Share of what its threads and processors allow that this program used, %.
    pub(super) client_pct: Option<f64>,
    /// Processors that the platform may use, where these are fewer than the host's, and the share that was used, %.
    pub(super) confined: Option<(f64, f64)>,
    /// The quota of this program.
    pub(super) own_quota: Option<Quota>,
    /// That of the database.
    pub(super) server_quota: Option<Quota>,
    /// Share of the time in which the device had something to do, %.
    pub(super) device_pct: Option<f64>,
    /// Where the sessions' time goes.
    pub(super) shares: Shares,
}

impl<'r> Seen<'r> {
    /// Of a record with a window in which sessions were at work; none of any other.
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
        // Whose the processors were was read over a time of its own.
        let read_s = capacity_s.filter(|_| cpus > 0.0).map(|s| s / cpus);
        let share = |name: &str| Some(counter(name)? / read_s?);
        let own = share("own.cpu_s").or_else(|| Some(counter("process.cpu_s")? / window.seconds));
        let busy_pct = (|| {
            let busy_s = counter("processors.busy_s")? + counter("processors.steal_s").unwrap_or(0.0);
            Some(100.0 * busy_s / capacity_s?)
        })();
        let kind_pct = |names: &[&str]| -> Option<f64> {
            let sum: Option<f64> = names.iter().map(|name| counter(&format!("processors.{name}_s"))).sum();
            Some(100.0 * sum? / capacity_s?)
        };
        let kinds = (|| {
            let (user, system) = (kind_pct(&["user", "nice"])?, kind_pct(&["system", "irq", "softirq"])?);
            Some((user, system, kind_pct(&["steal"])?)).filter(|_| elsewhere.is_none())
        })();
        // Processor time of processes that have ended may be booked late: more than was used at all is somebody else's.
        let is_whole = |server: &f64| {
            let all = busy_pct.map(|pct| pct / 100.0 * cpus);
            all.is_none_or(|all| server + own.unwrap_or(0.0) <= all * 1.1 + 0.1)
        };
        let servers = if in_process { own } else { share("server.cpu_s") };
        let server = servers.filter(|server| in_process || is_whole(server));
        let metric = |name: &str| record.metrics.get(name).and_then(Metric::value).filter(|v| v.is_finite());
        let of_host = || Some(metric("cpu_busy_pct")? + metric("cpu_steal_pct").unwrap_or(0.0));
        let quota = |whose: &str, used: Option<f64>| {
            let of = |name: &str| counter(&format!("{whose}.cgroup.{name}"));
            let (cpus, periods) = (of("quota_cpus")?, of("periods").filter(|periods| *periods > 0.0)?);
            let used = of("used_s").and_then(|used_s| Some(used_s / read_s?)).or(used);
            let throttled_pct = 100.0 * of("throttled_periods")? / periods;
            Some(Quota { cpus, used_pct: 100.0 * used? / cpus, throttled_pct }).filter(|_| cpus > 0.0)
        };
        // Of a database's host elsewhere it is known how busy it was, and not with whose work.
        let far_busy_pct = elsewhere.and_then(|host| {
            let share = |name: &str| host.counters.get(name).copied().filter(|value| value.is_finite());
            Some(share("cpu.busy_pct")? + share("cpu.steal_pct").unwrap_or(0.0))
        });
        let driver_busy_pct = busy_pct.filter(|_| elsewhere.is_some());
        let busy_pct = if elsewhere.is_some() { far_busy_pct } else { busy_pct.or_else(of_host) };
        let own_quota = quota("own", own);
        let allowed = Some(f64::from(host.cpus_allowed)).filter(|allowed| *allowed > 0.0);
        let client_pct = (|| {
            let threads = Some(f64::from(record.gate.threads)).filter(|threads| *threads > 0.0);
            let quota = own_quota.map(|quota| quota.cpus);
            let most = allowed.into_iter().chain(threads).chain(quota).reduce(f64::min)?;
            Some((100.0 * own? / most).min(100.0)).filter(|_| !in_process)
        })();
        let confined = confined(cpus, allowed, own, server, in_process, &counter);
        let cpu_s = own.and_then(|own| match in_process {
            true => Some(own * window.seconds),
            false => Some((own + server?) * window.seconds),
        });
        // All the time of the sessions, so that what they do between operations is nothing's share.
        let sessions = f64::from(record.sessions()).max(busy);
        Some(Self {
            record,
            sessions,
            busy,
            in_process,
            same_host,
            elsewhere,
            driver_busy_pct,
            driver_cpus: cpus,
            cpus: elsewhere.map_or(cpus, |host| f64::from(host.cpus)),
            busy_pct: busy_pct.map(|pct| pct.min(100.0)),
            kinds,
            own,
            server,
            others: share("others.cpu_s").filter(|_| elsewhere.is_none()),
            client_pct,
            confined,
            own_quota,
            // Of a quota it is known what was had of it, though ticks, by which the host's processors are told, seldom fall
            // into the moments in which a process is let run.
            server_quota: if in_process { None } else { quota("server", servers) },
            device_pct: metric("device_util_pct"),
            shares: Shares::of(record, window.seconds, sessions * window.seconds, cpu_s),
        })
    }

    /// A figure of the run.
    pub(super) fn metric(&self, name: &str) -> Option<f64> {
        self.record.metrics.get(name).and_then(Metric::value).filter(|value| value.is_finite())
    }

    /// Share of the host's processors, %, that the platform had: database and client.
    pub(super) fn platform_pct(&self) -> Option<f64> {
        let own = self.own.filter(|_| self.elsewhere.is_none())?;
        let all = if self.in_process { own } else { own + self.server.unwrap_or(0.0) };
        (self.cpus > 0.0).then(|| 100.0 * all / self.cpus)
    }

    /// Every figure that there is, by name.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        let pct_of =
            |cpus: Option<f64>| cpus.filter(|_| self.cpus > 0.0).map(|cpus| 100.0 * cpus / self.cpus);
        let server = self.server.filter(|_| !self.in_process);
        let Shares { commit, device, row_lock, lock, latch, outside, cpu, syncing, page_cache, .. } =
            &self.shares;
        let percents = [
            ("cpu_busy_pct", self.busy_pct),
            ("driver_cpu_busy_pct", self.driver_busy_pct),
            (
                "client_of_host_pct",
                self.own.filter(|_| self.driver_cpus > 0.0).map(|own| 100.0 * own / self.driver_cpus),
            ),
            ("database_of_host_pct", pct_of(server)),
            ("others_of_host_pct", pct_of(self.others)),
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
            ("time_outside_pct", *outside),
            ("time_on_cpu_pct", *cpu),
            ("log_syncing_pct", *syncing),
            ("page_cache_pct", *page_cache),
        ];
        let figure = |(name, value, unit): (&str, Option<f64>, Unit)| {
            let value = value.filter(|value| value.is_finite())?;
            Some(Evidence { name: name.to_owned(), value, unit })
        };
        let rest = [
            ("sessions", Some(self.sessions), Unit::Count),
            ("busy_sessions", Some(self.busy), Unit::Sessions),
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

/// Whether a database's host is another machine than the driving one.
fn is_elsewhere(host: &Host) -> bool {
    host.observed.as_ref().is_some_and(|observed| !observed.is_driver)
}

/// The processors that the platform may use and how much of them it used, where they are fewer than there are: those of this
/// program where the database is inside it, those that both share, or those of the database.
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
    // Where both have the same processors, what one uses the other has not.
    let used = if shared == servers && allowed == Some(servers) { own? + server? } else { server? };
    fewer(servers, used)
}
