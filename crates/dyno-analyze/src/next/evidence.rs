//! What rules ask about one run.

use dyno_record::{AuditCheck, CheckStatus, Metric, RunRecord};

use crate::limited::{Bottleneck, Component};

/// A run and its limit.
pub(super) struct RunEvidence<'r> {
    pub(super) record: &'r RunRecord,
    pub(super) limit: &'r Bottleneck,
}

impl RunEvidence<'_> {
    /// A setting of the first database.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.record.targets.first()?.identity.settings.get(name).map(String::as_str)
    }

    /// The increase of the first of these native counters that the database has, if it increased.
    pub(super) fn counted(&self, names: &[&str]) -> Option<f64> {
        let value = names.iter().find_map(|name| self.record.counters.native.get(*name).copied())?;
        Some(value).filter(|value| value.is_finite() && *value > 0.0)
    }

    pub(super) fn metric(&self, name: &str) -> Option<f64> {
        self.record.metrics.get(name).and_then(Metric::value).filter(|value| value.is_finite())
    }

    /// The audit check of this name, if it warned or failed.
    pub(super) fn warning(&self, check: &str) -> Option<&AuditCheck> {
        let doubtful = |status| matches!(status, CheckStatus::Warn | CheckStatus::Fail);
        self.record.audit.iter().find(|known| known.check == check && doubtful(known.status))
    }

    /// Length of the window, s.
    pub(super) fn window_s(&self) -> Option<f64> {
        self.record.window.as_ref().map(|window| window.seconds).filter(|seconds| *seconds > 0.0)
    }

    pub(super) fn is_limited_by(&self, component: Component) -> bool {
        self.limit.by == component
    }

    /// Whether sessions execute the block workload.
    pub(super) fn is_block_workload(&self) -> bool {
        self.record.workload.is_none() && self.record.plan.workload.folder.is_none()
    }

    /// Whether the database runs inside this program.
    pub(super) fn is_in_process(&self) -> bool {
        self.record.targets.first().is_some_and(|target| target.identity.counting.in_process)
    }

    /// The planned sessions of the main workload, over all schemas.
    pub(super) fn sessions(&self) -> u32 {
        self.record.plan.leading_sessions()
    }
}
