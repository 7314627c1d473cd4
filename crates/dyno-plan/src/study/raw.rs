//! A study's tables as written, before validation.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

/// The tables of a study; the plan's sections are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct RawStudy {
    pub(super) study: Option<Spanned<RawHead>>,
    #[serde(default)]
    pub(super) params: BTreeMap<Spanned<String>, Spanned<Value>>,
    #[serde(default)]
    pub(super) variant: Vec<Spanned<RawVariant>>,
    #[serde(default)]
    pub(super) task: Vec<Spanned<RawTask>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawHead {
    pub(super) title: Option<String>,
    pub(super) repeats: Option<Spanned<u32>>,
    pub(super) order: Option<Spanned<String>>,
    pub(super) seed: Option<u64>,
    pub(super) base: Option<Spanned<String>>,
    pub(super) again: bool,
    pub(super) state: Option<Spanned<String>>,
    pub(super) reset: Vec<String>,
    pub(super) setup: Vec<String>,
    pub(super) cleanup: Vec<String>,
    pub(super) serve: Vec<String>,
    pub(super) serve_verify: Vec<String>,
    pub(super) serve_back: Vec<String>,
    pub(super) restart: Vec<String>,
    pub(super) timeout: Option<Spanned<String>>,
    pub(super) devices: Vec<String>,
    pub(super) metrics: Vec<Spanned<String>>,
    pub(super) margin_pct: Option<Spanned<f64>>,
    pub(super) caveats: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVariant {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) axis: Option<String>,
    #[serde(default)]
    pub(super) about: String,
    #[serde(default)]
    pub(super) set: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    pub(super) apply: Vec<String>,
    #[serde(default)]
    pub(super) verify: Vec<String>,
    #[serde(default)]
    pub(super) revert: Vec<String>,
    #[serde(default)]
    pub(super) needs: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Spanned<Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTask {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) set: BTreeMap<String, Spanned<Value>>,
    #[serde(default = "yes")]
    pub(super) run: bool,
}

fn yes() -> bool {
    true
}
