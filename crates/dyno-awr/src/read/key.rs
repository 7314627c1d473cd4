//! What a value of a parameter belongs to.

use crate::report::Parameter;

/// What one value belongs to: a container may set a parameter for itself, and instances of a cluster may differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) pdb: Option<String>,
    pub(super) instance: Option<u32>,
}

impl Key {
    /// Whether a parameter belongs to it.
    pub(super) fn is(&self, parameter: &Parameter) -> bool {
        parameter.name == self.name && parameter.pdb == self.pdb && parameter.instance == self.instance
    }
}
