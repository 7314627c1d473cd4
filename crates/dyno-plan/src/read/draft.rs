//! A plan under construction: values so far, where each was written, and all errors.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Engines;
use crate::error::{Origin, PlanError, PlanErrorKind, PlanErrors, shown};
use crate::keys::{self, Key, Raw, Refused};
use crate::plan::{Axis, Data, Hooks, Observe, PLAN_VERSION, Plan, Run, Sweep, Target, Workload};
use crate::sweep::is_sessions;

/// A plan under construction.
pub(super) struct Draft {
    /// The engines that it can name.
    pub(super) engines: Engines,
    /// Defaults, overlaid with what was written and accepted.
    pub(super) plan: Plan,
    /// Where each key was written last.
    marks: BTreeMap<&'static str, Mark>,
    /// Keys of which a value was refused.
    refused: BTreeSet<&'static str>,
    /// Where each axis was written last.
    axis_marks: BTreeMap<String, Origin>,
    errors: PlanErrors,
}

/// Where a value was written, and how.
#[derive(Clone)]
pub(super) struct Mark {
    /// Where.
    pub(super) origin: Origin,
    /// The value as written.
    pub(super) text: String,
}

impl Origin {
    /// Which source wins: the higher one.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Nowhere => 0,
            Self::File { .. } => 1,
            Self::Set => 2,
            Self::Target => 3,
        }
    }
}

/// The error that a refused value is.
pub(super) fn refusal(key: &Key, refused: Refused, text: &str, origin: Origin) -> PlanError {
    let value = key.kind.may_show().then(|| shown(text));
    let hint = match refused.hint {
        None => format!("allowed: {}", key.allowed()),
        Some(hint) if hint.starts_with("did you mean") => format!("{hint} allowed: {}", key.allowed()),
        Some(hint) => hint,
    };
    let key = Some(key.path.to_owned());
    PlanError { kind: refused.kind, origin, key, value, problem: refused.problem, hint }
}

/// A plan in which nothing means anything yet; every key that has a value by default overwrites it.
fn blank() -> Plan {
    Plan {
        version: PLAN_VERSION,
        target: Target::default(),
        data: Data::default(),
        workload: Workload::default(),
        run: Run::default(),
        observe: Observe::default(),
        hooks: Hooks::default(),
        sweep: Sweep::default(),
    }
}

impl Draft {
    /// A plan of defaults.
    pub(super) fn new(engines: Engines) -> Self {
        let mut plan = blank();
        for key in keys::all() {
            if let keys::Fallback::Value(text) = key.default {
                let put = key.kind.put(&mut plan, Raw::Text(text), engines);
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

    /// Takes `raw`, written as `text` at `origin`, as the value of `key`.
    pub(super) fn accept(&mut self, key: &'static Key, raw: Raw<'_>, text: &str, origin: Origin) {
        self.marks.insert(key.path, Mark { origin: origin.clone(), text: text.to_owned() });
        if let Err(refused) = key.kind.put(&mut self.plan, raw, self.engines) {
            self.refused.insert(key.path);
            self.push(refusal(key, refused, text, origin));
        }
    }

    /// Takes an axis, instead of the same one from a weaker source. Two names for one key in the same source are an
    /// error.
    pub(super) fn put_axis(&mut self, axis: Axis, origin: Origin) {
        let is_same = |key: &str| key == axis.key || (is_sessions(key) && is_sessions(&axis.key));
        let known = self.plan.sweep.axes.iter().position(|known| is_same(&known.key));
        if let Some(known) = known {
            let before = self.axis_marks.get(&self.plan.sweep.axes[known].key);
            if before.is_some_and(|before| before.rank() == origin.rank()) && origin != Origin::Set {
                let key = format!("sweep.{}", axis.key);
                let hint = "keep one of the two".to_owned();
                let problem = "the axis is there twice";
                return self.refuse_name(PlanErrorKind::Conflict, origin, Some(&key), problem, hint);
            }
        }
        self.axis_marks.insert(axis.key.clone(), origin);
        match known {
            Some(known) => self.plan.sweep.axes[known] = axis,
            None => self.plan.sweep.axes.push(axis),
        }
    }

    /// Where the axis was written that is nearest to what `keys` name; the last one, if none of them is an axis.
    pub(super) fn axis_mark(&self, keys: &[String]) -> Option<(String, Origin)> {
        let axes = &self.plan.sweep.axes;
        let axis = axes.iter().find(|axis| keys.contains(&axis.key)).or(axes.last())?;
        Some((format!("sweep.{}", axis.key), self.axis_marks.get(&axis.key)?.clone()))
    }

    /// Whether any error was noted.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.errors.is_empty()
    }

    /// Notes an error.
    pub(super) fn push(&mut self, error: PlanError) {
        self.errors.push(error);
    }

    /// Notes an error about a key or section that does not exist, or is not what it should be.
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

    /// Where `path` was written last.
    pub(super) fn mark(&self, path: &str) -> Option<&Mark> {
        self.marks.get(path)
    }

    /// Whether a value of any of `paths` was refused, so that checks of them would be about other values.
    pub(super) fn refused(&self, paths: &[&'static str]) -> bool {
        paths.iter().any(|path| self.refused.contains(path))
    }

    /// The plan, if there is no error.
    pub(super) fn finish(mut self) -> Result<Plan, PlanErrors> {
        if self.errors.errors.is_empty() {
            return Ok(self.plan);
        }
        self.errors.sort();
        Err(self.errors)
    }
}
