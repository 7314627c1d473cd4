//! Identifies the scope of a parameter's value.

use crate::report::AwrParameter;

/// The scope of one value: a container may set a parameter for itself, and instances of a cluster
/// may differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AwrParameterKey {
    pub(super) name: String,
    pub(super) pdb: Option<String>,
    pub(super) instance: Option<u32>,
}

impl AwrParameterKey {
    /// Whether a parameter has this name and scope.
    pub(super) fn matches(&self, parameter: &AwrParameter) -> bool {
        parameter.name == self.name && parameter.pdb == self.pdb && parameter.instance == self.instance
    }
}
