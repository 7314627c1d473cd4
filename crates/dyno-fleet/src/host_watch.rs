//! Measures what a run uses of its driver host during the window.

use dyno_host::{HostDelta, HostObserver, HostSnapshot, ProcessTimes, ProcessorShares};

use crate::messages::HostUsage;

/// Measures the use of this host in the window.
pub(crate) struct HostUsageWatch {
    observer: HostObserver,
    /// When the window begins; absent until the controller announces it.
    pub(crate) begins_ns: Option<u64>,
    begin: Option<(u64, HostSnapshot)>,
    end: Option<(u64, HostSnapshot)>,
    /// Processor times at both window boundaries, from which throttling by a CPU quota is computed.
    times: [Option<ProcessTimes>; 2],
    queue: crate::queue::SendQueue,
}

impl HostUsageWatch {
    pub(crate) fn new() -> Self {
        let observer = HostObserver::new(&[]);
        Self {
            observer,
            begins_ns: None,
            begin: None,
            end: None,
            times: [None, None],
            queue: crate::queue::SendQueue::default(),
        }
    }

    /// Takes a snapshot at each window boundary, and samples the send queues between them.
    pub(crate) fn observe(&mut self, now_ns: u64, closed_ns: Option<u64>) {
        let Some(begins_ns) = self.begins_ns.filter(|begins_ns| now_ns >= *begins_ns) else { return };
        if self.begin.is_none() {
            self.begin = Some((now_ns, self.observer.snapshot()));
            self.times[0] = ProcessTimes::read(&[], &[]);
        }
        if closed_ns.is_some() {
            if self.end.is_none() {
                self.end = Some((now_ns, self.observer.snapshot()));
                self.times[1] = ProcessTimes::read(&[], &[]);
            }
            return;
        }
        self.queue.sample(now_ns - begins_ns);
    }

    pub(crate) fn into_usage(self) -> HostUsage {
        let (Some((begin_ns, begin)), Some((end_ns, end))) = (self.begin, self.end) else {
            return HostUsage::default();
        };
        let delta = HostDelta::between(&begin, &end, end_ns.saturating_sub(begin_ns) as f64 / 1e9);
        let quota = match &self.times {
            [Some(begin), Some(end)] => {
                ProcessorShares::between(begin, end).and_then(|shares| shares.own_quota)
            }
            _ => None,
        };
        let periods = quota.filter(|quota| quota.periods > 0);
        let throttled_pct = periods.map(|quota| 100.0 * quota.throttled as f64 / quota.periods as f64);
        HostUsage {
            cpu_busy_pct: delta.cpu.as_ref().map(|cpu| cpu.busy_pct),
            client_cpus: delta
                .process
                .as_ref()
                .map(|cpu| (cpu.user_s + cpu.system_s) / delta.seconds.max(1e-9)),
            send_queue_bytes_max: self.queue.max_bytes(),
            throttled_pct,
            stalls: None,
        }
    }
}
