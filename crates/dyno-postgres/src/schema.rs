//! The schema of the test data.

/// The schema of all objects that Dyno creates, with which it qualifies names.
pub(crate) const SCHEMA: &str = "dyno";
