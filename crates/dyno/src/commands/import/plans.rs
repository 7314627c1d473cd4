//! The plans of imported records: what the file and the command line say, over an empty plan.

use std::collections::BTreeMap;

use anyhow::Context as _;
use dyno_plan::engine::IMPORTED;
use dyno_plan::{Plan, PlanSource, TargetUrl};

/// Plans of the lines so far, by what was set: most lines have one that another has.
#[derive(Default)]
pub(super) struct Plans(pub(super) BTreeMap<Vec<String>, Plan>);

impl Plans {
    /// The plan with `sets`, of a record of `file`.
    ///
    /// # Errors
    /// A key or value is wrong.
    pub(super) fn of(&mut self, sets: Vec<String>, file: &str) -> anyhow::Result<Plan> {
        if let Some(plan) = self.0.get(&sets) {
            return Ok(plan.clone());
        }
        // A plan needs a database; which one is set by the caller.
        let target = Some(IMPORTED.0[0].template.to_owned());
        let mut plan =
            dyno_plan::read(&PlanSource { sets: sets.clone(), target, ..PlanSource::of(IMPORTED) })?;
        plan.target.url =
            TargetUrl { scheme: "imported".into(), path: file.to_owned(), ..TargetUrl::default() };
        // The repository stores the plan as JSON, so it has to read back.
        serde_json::from_str::<Plan>(&serde_json::to_string(&plan)?)
            .with_context(|| format!("the plan of a record of {file} cannot be read back"))?;
        // A table may set another value in each line: then remembering them is of no use.
        if self.0.len() < 1_000 {
            self.0.insert(sets, plan.clone());
        }
        Ok(plan)
    }
}
