//! Roles: what the holder of a token may do.

use axum::http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the holder of a token may do. Each role includes the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserRole {
    /// Read every page, record and export.
    View,
    /// Start jobs, and stop, pause and resume their own.
    Run,
    /// Start jobs that run commands, control all jobs, and read the action log.
    Administer,
}

dyno_plan::names! {
    /// The name in files and options, such as `view`.
    UserRole { View = "view", Run = "run", Administer = "administer" }
}

/// The sender of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Name of the sender's token.
    pub(crate) name: String,
    pub(crate) role: UserRole,
}

/// The path of the action log in the API.
pub(crate) const ACTIONS: &str = "/api/v1/actions";

/// Returns the role that a request needs. Handlers restrict it further if it depends on the job: see
/// [`Caller::controls`].
pub(crate) fn required(method: &Method, path: &str) -> UserRole {
    match (is_safe(method), path) {
        (true, ACTIONS) => UserRole::Administer,
        (true, _) | (false, "/logout") => UserRole::View,
        (false, _) => UserRole::Run,
    }
}

/// Whether requests with this method change nothing.
pub(crate) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

impl Caller {
    /// Whether the caller may stop, pause or resume a job that `starter` started.
    pub(crate) fn controls(&self, starter: Option<&str>) -> bool {
        self.role == UserRole::Administer
            || (self.role == UserRole::Run && starter == Some(self.name.as_str()))
    }

    /// Whether jobs of the caller may run commands.
    pub(crate) fn may_run_commands(&self) -> bool {
        self.role == UserRole::Administer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_requests_need_more_than_view_role() {
        assert_eq!(required(&Method::GET, "/jobs/x/stop"), UserRole::View);
        assert_eq!(required(&Method::POST, "/jobs/x/stop"), UserRole::Run);
        assert_eq!(required(&Method::POST, "/logout"), UserRole::View);
        assert_eq!(required(&Method::DELETE, "/api/v1/runs"), UserRole::Run);
        assert_eq!(required(&Method::GET, ACTIONS), UserRole::Administer);
    }

    #[test]
    fn only_administrators_control_jobs_of_other_users() {
        let caller = |role| Caller { name: "anna".into(), role };
        for (role, own, other) in
            [(UserRole::View, false, false), (UserRole::Run, true, false), (UserRole::Administer, true, true)]
        {
            assert_eq!(caller(role).controls(Some("anna")), own, "{role:?}");
            assert_eq!(caller(role).controls(Some("ben")), other, "{role:?}");
            assert_eq!(caller(role).controls(None), other, "{role:?}");
        }
    }
}
