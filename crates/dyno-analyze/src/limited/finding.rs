//! A limit as the rules determine it, before caveats are applied.

use super::Component;

/// A limit that was determined.
pub(super) struct BottleneckFinding {
    pub(super) component: Component,
    pub(super) label: String,
    pub(super) used_pct: Option<f64>,
    /// Whether the exhausted component was measured.
    pub(super) sure: bool,
    /// Whether the platform itself uses all of it, so others cannot be the reason.
    pub(super) is_exclusive: bool,
    pub(super) sentence: String,
    pub(super) spoiled: Vec<String>,
}

impl BottleneckFinding {
    pub(super) fn of(component: Component, label: &str, sure: bool, sentence: String) -> Self {
        Self {
            component,
            label: label.to_owned(),
            used_pct: None,
            sure,
            is_exclusive: false,
            sentence,
            spoiled: Vec::new(),
        }
    }

    pub(super) fn exclusive(self) -> Self {
        Self { is_exclusive: true, ..self }
    }

    pub(super) fn used(self, pct: f64) -> Self {
        Self { used_pct: Some(pct), ..self }
    }
}
