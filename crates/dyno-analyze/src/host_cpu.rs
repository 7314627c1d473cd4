//! One definition of a host's processor use, for sentences and tables alike.

use dyno_record::Host;

/// Shares of a host's processor time over the window, % of all processors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct HostCpu {
    /// In programs and the kernel, as the metric `cpu_busy_pct`. Without what the hypervisor took.
    pub(crate) busy_pct: f64,
    /// Programs, and the kernel with interrupts; absent where they are unknown.
    pub(crate) kinds_pct: Option<(f64, f64)>,
    /// Taken by the hypervisor.
    pub(crate) steal_pct: f64,
}

impl HostCpu {
    /// The shares of `host`; `None` if they are unknown. The host's own figures are those of the metrics. Without them,
    /// those of the reading of processes count, which covers a slightly different time.
    pub(crate) fn of(host: &Host) -> Option<Self> {
        let counter = |name: &str| host.counters.get(name).copied().filter(|value| value.is_finite());
        if let Some(busy_pct) = counter("cpu.busy_pct") {
            let kinds_pct = counter("cpu.user_pct").zip(counter("cpu.system_pct"));
            return Some(Self { busy_pct, kinds_pct, steal_pct: counter("cpu.steal_pct").unwrap_or(0.0) });
        }
        let capacity_s = counter("processors.capacity_s").filter(|s| *s > 0.0)?;
        let pct = |kind: &str| Some(100.0 * counter(&format!("processors.{kind}_s"))? / capacity_s);
        let sum = |kinds: &[&str]| kinds.iter().map(|kind| pct(kind)).sum::<Option<f64>>();
        Some(Self {
            busy_pct: pct("busy")?,
            kinds_pct: sum(&["user", "nice"]).zip(sum(&["system", "irq", "softirq"])),
            steal_pct: pct("steal").unwrap_or(0.0),
        })
    }

    /// What programs could not use: busy, or taken by the hypervisor.
    pub(crate) fn full_pct(self) -> f64 {
        (self.busy_pct + self.steal_pct).min(100.0)
    }
}
