//! The definition of a study: its file, the plan of each task under each variant, and its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dyno_plan::study::{Need, StudyFile, StudyLeg, StudyPlan, expanded, legs};
use dyno_plan::{HookSettings, Plan, PlanSource, SweepSettings, read};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::campaign_context::RunLabels;
use crate::error::Error;

/// The plan key that variants must not set if the user gives it as an option.
const TARGET: &str = "target.url";

/// A study as it is executed, and as it is stored for a resume.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StudyDefinition {
    pub study: StudyPlan,
    /// The plan of each task under each variant.
    pub plans: Vec<Vec<Plan>>,
    /// The study's working folder: journal, helper scripts, loop files.
    pub folder: PathBuf,
    /// The folder of the study file.
    pub here: PathBuf,
    /// The labels of the study's runs.
    pub marks: RunLabels,
    /// Devices that may be formatted although they contain data.
    pub erase: Vec<String>,
    /// Identities of the devices when the study began: after a restart their names may belong to other disks.
    #[serde(default)]
    pub disks: BTreeMap<String, String>,
    /// Whether existing data of Dyno may be dropped.
    pub replace: bool,
}

impl StudyDefinition {
    /// Creates the study of `file` in `folder`; `options` override its plan.
    ///
    /// # Errors
    /// The file or a resulting plan is invalid.
    pub fn new(
        file: &StudyFile,
        folder: PathBuf,
        here: PathBuf,
        options: &PlanSource,
    ) -> Result<Self, Error> {
        let measure_names: Vec<&str> =
            dyno_analyze::points::MEASURES.iter().map(|measure| measure.name).collect();
        let study = file.study(&measure_names)?;
        let place = folder.to_str().ok_or_else(|| {
            Error::usage(
                format!("the folder name {} is not valid UTF-8", folder.display()),
                "give another folder with --dir",
            )
        })?;
        let mut plans = Vec::new();
        for variant in &study.variants {
            let mut of_variant = Vec::new();
            for task in &study.tasks {
                let mut source = file.source(&study, place, options.clone());
                for (key, value) in task.set.iter().chain(&variant.set) {
                    let value = expanded(value, &study.params, place);
                    if key == TARGET && source.target.is_some() {
                        return Err(Error::usage(
                            "variants of the study set their own targets, so --target cannot be used",
                            "leave --target out, or edit the study's file",
                        ));
                    }
                    source.sets.push(format!("{key}={value}"));
                }
                of_variant.push(plan(&source).map_err(|error| named(&variant.name, &task.name, error))?);
            }
            plans.push(of_variant);
        }
        let (marks, erase, disks, replace) = Default::default();
        Ok(Self { study, plans, folder, here, marks, erase, disks, replace })
    }

    pub fn legs(&self) -> Vec<StudyLeg> {
        legs(&self.study)
    }

    /// Refuses what is impossible on this machine.
    pub(super) fn refuse(&self) -> Result<(), Error> {
        let needs_root = self.study.variants.iter().find(|variant| variant.needs(Need::Root));
        match needs_root {
            Some(variant) if !geteuid().is_root() => Err(Error::usage(
                format!("the variant {:?} needs root", variant.name),
                "run the study as root; `dyno study plan` shows every command that it would run",
            )),
            _ => Ok(()),
        }
    }

    /// The number of a variant and task among all combinations, from 1.
    pub(super) fn point(&self, variant: usize, task: usize) -> u32 {
        (variant * self.study.tasks.len() + task) as u32 + 1
    }
}

/// Reads a plan of a study: without a sweep and without hooks.
fn plan(source: &PlanSource) -> Result<Plan, Error> {
    let plan = read(source)?;
    let timeout = plan.hooks.timeout;
    if plan.hooks != (HookSettings { timeout, ..HookSettings::default() }) {
        return Err(Error::usage(
            "a study's plan cannot have hooks",
            "use setup, serve, apply and revert of the study",
        ));
    }
    Ok(Plan { sweep: SweepSettings::default(), ..plan })
}

fn named(variant: &str, task: &str, error: Error) -> Error {
    match error {
        Error::Plan(_) => error,
        Error::Usage { problem, hint } => Error::usage(format!("{variant}, {task}: {problem}"), hint),
        error => error,
    }
}

/// Default folder for studies: in the user's state directory. For root it is in `/var/lib`, where servers of
/// other users can reach it.
pub fn home() -> Option<PathBuf> {
    let env_path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = env_path("XDG_STATE_HOME").map(|state| state.join("dyno/studies"));
    let default_home = || match geteuid().is_root() {
        true => Some(Path::new("/var/lib/dyno/studies").to_path_buf()),
        false => env_path("HOME").map(|home| home.join(".local/state/dyno/studies")),
    };
    named.or_else(default_home)
}

#[cfg(test)]
mod tests {
    use dyno_plan::{Engines, PlanFile};

    use super::*;

    const TEXT: &str = "[target]\nurl = \"sqlite:${STUDY}/${name}.db\"\n[params]\nname = \"x\"\nshare = 20\n\
        [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = { \"workload.update_pct\" = \"${share}\" }\n\
        [[task]]\nname = \"few\"\nset = { \"run.sessions_per_schema\" = 1 }\n\
        [[task]]\nname = \"many\"\nset = { \"run.sessions_per_schema\" = 8 }\n";

    fn definition(text: &str, target: Option<&str>) -> Result<StudyDefinition, Error> {
        let file = PlanFile { name: "s.toml".to_owned(), text: text.to_owned() };
        let file = StudyFile { file, name: "s".to_owned(), params: Vec::new() };
        let mut options = PlanSource::of(Engines(&[dyno_sqlite::ENGINE.spec]));
        options.target = target.map(str::to_owned);
        StudyDefinition::new(&file, "/study".into(), "/here".into(), &options)
    }

    #[test]
    fn study_has_a_plan_for_each_task_under_each_variant() {
        let study = definition(TEXT, None).unwrap();
        let settings: Vec<Vec<(u32, u32)>> = study
            .plans
            .iter()
            .map(|tasks| {
                let setting = |plan: &Plan| (plan.workload.update_pct, plan.run.sessions_per_schema);
                tasks.iter().map(setting).collect()
            })
            .collect();
        assert_eq!(settings, [[(0, 1), (0, 8)], [(20, 1), (20, 8)]]);
        assert_eq!(study.plans[0][0].target.url.to_string(), "sqlite:/study/x.db");
        assert_eq!((study.point(0, 0), study.point(0, 1), study.point(1, 1)), (1, 2, 4));
        let stored = serde_json::to_value(&study).unwrap();
        let resumed: StudyDefinition = serde_json::from_value(stored).unwrap();
        assert_eq!(resumed.legs(), study.legs());
        assert_eq!(resumed.plans, study.plans);
    }

    #[test]
    fn study_with_hooks_or_two_sources_of_targets_is_refused() {
        let hooks = TEXT.replace("[params]", "[hooks]\npre = \"true\"\n[params]");
        let error = definition(&hooks, None).unwrap_err();
        assert_eq!(error.to_string(), "a, few: a study's plan cannot have hooks");
        let targets = TEXT.replace("\"workload.update_pct\" = \"${share}\"", "\"target.url\" = \"sqlite:b\"");
        assert!(definition(&targets, None).is_ok());
        let error = definition(&targets, Some("sqlite:c")).unwrap_err();
        assert!(error.to_string().contains("--target cannot be used"), "{error}");
        let plan = TEXT.replace("\"workload.update_pct\" = \"${share}\"", "\"run.time\" = \"soon\"");
        assert!(matches!(definition(&plan, None), Err(Error::Plan(_))));
    }
}
