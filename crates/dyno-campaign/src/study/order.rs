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
