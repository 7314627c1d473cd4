//! Options of commands that prepare measurements: init, check, load, drop.

use std::path::PathBuf;

use clap::Args;
use dyno_plan::{EngineSpec, READY};
use dyno_workload::custom::example::EXAMPLES;

use super::fleet::AgentAccessArgs;
use crate::engines::{NAMES, named};

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The engine of the plan [default: that of --target, else sqlite].
    #[arg(long, value_name = NAMES.as_str(), value_parser = named)]
    pub(crate) engine: Option<&'static EngineSpec>,
    /// Write the plan of a published experiment instead of a default plan.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(READY.map(|ready| ready.name)))]
    pub(crate) ready: Option<String>,
    /// Write a folder with SQL instead of a plan: `shop` is a commented example, the others are ready to run.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["engine", "ready"], value_parser = clap::builder::PossibleValuesParser::new(EXAMPLES.map(|example| example.name)))]
    pub(crate) workload: Option<String>,
    /// Folder that --workload writes [default: its name].
    #[arg(value_name = "DIR", requires = "workload")]
    pub(crate) dir: Option<PathBuf>,
    /// Write every key with its meaning, not only the most used ones.
    #[arg(long, conflicts_with_all = ["ready", "workload"])]
    pub(crate) full: bool,
    /// List the plans of --ready and the workloads of --workload with their subjects.
    #[arg(long, conflicts_with_all = ["ready", "workload", "full", "engine"])]
    pub(crate) list: bool,
    /// Overwrite an existing plan or workload.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Load a small separate schema, run every operation, compare the results with the expected ones, and
    /// drop it. Needs a target without Dyno data.
    #[arg(long)]
    pub(crate) deep: bool,
    /// Run the ten-step acceptance test of the engine on this server: privileges, load, types, exact counts,
    /// plans, errors, locks. Each step is proved, not proved, wrong or not applicable. It loads and drops a
    /// small separate schema, and needs a target without Dyno data. Exit code 1: a step is wrong or not
    /// proved.
    #[arg(long, conflicts_with = "deep")]
    pub(crate) accept: bool,
    /// Write the findings of --accept to FILE as JSON, without names of hosts, users, databases and files, so
    /// that it can be attached to a report.
    #[arg(long, value_name = "FILE", requires = "accept")]
    pub(crate) record: Option<PathBuf>,
    /// Print the statements that an administrator runs to grant the URL's user its privileges; connect to
    /// nothing.
    #[arg(long, conflicts_with_all = ["deep", "accept"])]
    pub(crate) grants: bool,
    #[command(flatten)]
    pub(crate) met: AgentAccessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// First drop existing data that is damaged or has another shape.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Drop {
    /// Do not ask for confirmation before removing.
    #[arg(long, short)]
    pub(crate) yes: bool,
}
