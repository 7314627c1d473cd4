//! A plan under construction: current values, where each was written, and all errors.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Engines;
use crate::error::{Origin, PlanError, PlanErrorKind, PlanErrors, shown};
use crate::keys::{self, PlanKey, RawValue, Refused};
use crate::plan::{
    DataSettings, HookSettings, ObserveSettings, PLAN_VERSION, Plan, RunSettings, SweepGridAxis,
    SweepSettings, TargetSettings, WorkloadSettings,
};
use crate::sweep::is_sessions;

/// A plan under construction from several sources.
pub(super) struct PlanDraft {
    /// The engines whose URLs it may use.
    pub(super) engines: Engines,
    /// Defaults, overridden by accepted values.
    pub(super) plan: Plan,
    /// Where each key was last written.
    marks: BTreeMap<&'static str, WrittenKeyValue>,
    /// Keys with a refused value.
    refused: BTreeSet<&'static str>,
    /// Where each axis was last written.
    axis_marks: BTreeMap<String, Origin>,
    errors: PlanErrors,
}

/// Where and how a value was written.
#[derive(Clone)]
pub(super) struct WrittenKeyValue {
    /// The source and place of the value.
    pub(super) origin: Origin,
    /// The value as the user wrote it.
    pub(super) text: String,
}

impl Origin {
    /// The priority of the source: the highest wins.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Nowhere => 0,
            Self::File { .. } => 1,
            Self::Set => 2,
            Self::Target => 3,
        }
    }
}

/// The error for a refused value.
pub(super) fn refusal(key: &PlanKey, refused: Refused, text: &str, origin: Origin) -> PlanError {
    let value = key.kind.may_show().then(|| shown(text));
    let hint = match refused.hint {
        None => format!("allowed: {}", key.allowed()),
        Some(hint) if hint.starts_with("did you mean") => format!("{hint} allowed: {}", key.allowed()),
        Some(hint) => hint,
    };
    let key = Some(key.path.to_owned());
    PlanError { kind: refused.kind, origin, key, value, problem: refused.problem, hint }
}

/// A plan with placeholder values; the defaults of the keys replace them.
fn blank() -> Plan {
    Plan {
        version: PLAN_VERSION,
        target: TargetSettings::default(),
        data: DataSettings::default(),
        workload: WorkloadSettings::default(),
        run: RunSettings::default(),
        observe: ObserveSettings::default(),
        hooks: HookSettings::default(),
        sweep: SweepSettings::default(),
    }
}

impl PlanDraft {
    /// A draft with all default values.
    pub(super) fn new(engines: Engines) -> Self {
        let mut plan = blank();
        for key in keys::all() {
            if let keys::Fallback::Value(text) = key.default {
                let put = key.kind.put(&mut plan, RawValue::Text(text), engines);
                put.expect("defaults are valid: a test reads them all");
            }
        }
        Self {
            engines,
            plan,
            marks: BTreeMap::new(),
            refused: BTreeSet::new(),
            axis_marks: BTreeMap::new(),
            errors: PlanErrors::default(),
        }
    }

    /// Stores `raw`, written as `text` at `origin`, as the value of `key`, or records an error.
    pub(super) fn accept(&mut self, key: &'static PlanKey, raw: RawValue<'_>, text: &str, origin: Origin) {
        self.marks.insert(key.path, WrittenKeyValue { origin: origin.clone(), text: text.to_owned() });
        if let Err(refused) = key.kind.put(&mut self.plan, raw, self.engines) {
            self.refused.insert(key.path);
            self.push(refusal(key, refused, text, origin));
        }
    }

    /// Stores an axis; it replaces the same axis from a weaker source. Two names for one key in the same source are an error.
    pub(super) fn put_axis(&mut self, axis: SweepGridAxis, origin: Origin) {
        let is_same = |key: &str| key == axis.key || (is_sessions(key) && is_sessions(&axis.key));
        let existing = self.plan.sweep.axes.iter().position(|known| is_same(&known.key));
        if let Some(known) = existing {
            let before = self.axis_marks.get(&self.plan.sweep.axes[known].key);
            if before.is_some_and(|before| before.rank() == origin.rank()) && origin != Origin::Set {
                let key = format!("sweep.{}", axis.key);
                let hint = "keep one of the two".to_owned();
                let problem = "duplicate axis";
                return self.refuse_name(PlanErrorKind::Conflict, origin, Some(&key), problem, hint);
            }
        }
        self.axis_marks.insert(axis.key.clone(), origin);
        match existing {
            Some(known) => self.plan.sweep.axes[known] = axis,
            None => self.plan.sweep.axes.push(axis),
        }
    }

    /// The place of the axis closest to the keys `keys`; that of the last axis if none of them is an axis.
    pub(super) fn axis_mark(&self, keys: &[String]) -> Option<(String, Origin)> {
        let axes = &self.plan.sweep.axes;
        let axis = axes.iter().find(|axis| keys.contains(&axis.key)).or(axes.last())?;
        Some((format!("sweep.{}", axis.key), self.axis_marks.get(&axis.key)?.clone()))
    }

    /// Whether any error was recorded.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.errors.is_empty()
    }

    /// Records an error of any kind.
    pub(super) fn push(&mut self, error: PlanError) {
        self.errors.push(error);
    }

    /// Records an error about a key or section that does not exist or has the wrong type.
    pub(super) fn refuse_name(
        &mut self,
        kind: PlanErrorKind,
        origin: Origin,
        name: Option<&str>,
        problem: &str,
        hint: String,
    ) {
        let (key, problem) = (name.map(str::to_owned), problem.to_owned());
        self.push(PlanError { kind, origin, key, value: None, problem, hint });
    }

    /// Where `path` was last written.
    pub(super) fn mark(&self, path: &str) -> Option<&WrittenKeyValue> {
        self.marks.get(path)
    }

    /// Whether a value of any of `paths` was refused; then checks of these keys would see other values.
    pub(super) fn refused(&self, paths: &[&'static str]) -> bool {
        paths.iter().any(|path| self.refused.contains(path))
    }

    /// The plan, or all errors.
    pub(super) fn finish(mut self) -> Result<Plan, PlanErrors> {
        if self.errors.errors.is_empty() {
            return Ok(self.plan);
        }
        self.errors.sort();
        Err(self.errors)
    }
}
