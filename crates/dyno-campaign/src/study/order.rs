//! What a study is to do: its file, the plan of each task under each variant, and where it works.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dyno_plan::study::{Leg, Need, Study, StudyFile, expanded, legs};
use dyno_plan::{Hooks, Plan, PlanSource, Sweep, read};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::lead::Marks;

/// The key whose value no variant may share with an option.
const TARGET: &str = "target.url";

/// A study as it is run, and noted for those who go on with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// What it is to do.
    pub study: Study,
    /// The plan of each task under each variant.
    pub plans: Vec<Vec<Plan>>,
    /// The folder of its own: journal, shell pieces, loop files.
    pub folder: PathBuf,
    /// The folder of its file.
    pub here: PathBuf,
    /// What its runs are marked with.
    pub marks: Marks,
    /// Devices that may be formatted although they hold something.
    pub erase: Vec<String>,
    /// What its devices were told by when it began: their names may be of other disks after the next start.
    #[serde(default)]
    pub disks: BTreeMap<String, String>,
    /// Whether data of Dyno's that is there before may be dropped.
    pub replace: bool,
}

impl Order {
    /// The study of `file`, in `folder`; `options` has what stands over its plan.
    ///
    /// # Errors
    /// The file or a plan that comes of it is wrong.
    pub fn new(
        file: &StudyFile,
        folder: PathBuf,
        here: PathBuf,
        options: &PlanSource,
    ) -> Result<Self, Error> {
        let known: Vec<&str> = dyno_analyze::points::MEASURES.iter().map(|measure| measure.name).collect();
        let study = file.study(&known)?;
        let place = folder.to_str().ok_or_else(|| {
            Error::usage(format!("the folder {} is no text", folder.display()), "give another one with --dir")
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
                            "variants of the study have targets of their own, so --target cannot name one",
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

    /// All legs, in order.
    pub fn legs(&self) -> Vec<Leg> {
        legs(&self.study)
    }

    /// Refuses what cannot be done here.
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

    /// A variant with its task, by its number among all of them, from 1.
    pub(super) fn point(&self, variant: usize, task: usize) -> u32 {
        (variant * self.study.tasks.len() + task) as u32 + 1
    }
}

/// A plan of a study: without a sweep, and without commands of its own.
fn plan(source: &PlanSource) -> Result<Plan, Error> {
    let plan = read(source)?;
    let timeout = plan.hooks.timeout;
    if plan.hooks != (Hooks { timeout, ..Hooks::default() }) {
        return Err(Error::usage(
            "a study's plan has no hooks",
            "use setup, serve, apply and revert of the study",
        ));
    }
    Ok(Plan { sweep: Sweep::default(), ..plan })
}

fn named(variant: &str, task: &str, error: Error) -> Error {
    match error {
        Error::Plan(_) => error,
        Error::Usage { problem, hint } => Error::usage(format!("{variant}, {task}: {problem}"), hint),
        error => error,
    }
}

/// Where studies work unless they are told: in the user's state directory; root's is where other users' servers can reach it.
pub fn home() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = of("XDG_STATE_HOME").map(|state| state.join("dyno/studies"));
    let own = || match geteuid().is_root() {
        true => Some(Path::new("/var/lib/dyno/studies").to_path_buf()),
        false => of("HOME").map(|home| home.join(".local/state/dyno/studies")),
    };
    named.or_else(own)
}
