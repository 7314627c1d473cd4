//! Builds the plans of imported records: an empty plan with the settings of the file and the command line.

use std::collections::BTreeMap;

use dyno_plan::engine::IMPORTED;
use dyno_plan::{Plan, PlanSource, TargetUrl};

use crate::Error;

/// Plans built so far, by their settings: most lines share a plan.
#[derive(Default)]
pub(super) struct Plans(pub(super) BTreeMap<Vec<String>, Plan>);

impl Plans {
    /// The plan with `sets` for a record of `file`.
    ///
    /// # Errors
    /// A key or value is invalid.
    pub(super) fn of(&mut self, sets: Vec<String>, file: &str) -> Result<Plan, Error> {
        if let Some(plan) = self.0.get(&sets) {
            return Ok(plan.clone());
        }
        // A plan needs a database URL; the caller sets the real one.
        let target = Some(IMPORTED.0[0].template.to_owned());
        let mut plan =
            dyno_plan::read(&PlanSource { sets: sets.clone(), target, ..PlanSource::of(IMPORTED) })?;
        plan.target.url =
            TargetUrl { scheme: "imported".into(), path: file.to_owned(), ..TargetUrl::default() };
        // The repository stores the plan as JSON, so it must be readable again.
        serde_json::to_string(&plan)
            .and_then(|text| serde_json::from_str::<Plan>(&text))
            .map_err(|source| Error::PlanText { file: file.to_owned(), source })?;
        // If every line has other values, the cache is useless.
        if self.0.len() < 1_000 {
            self.0.insert(sets, plan.clone());
        }
        Ok(plan)
    }
}
