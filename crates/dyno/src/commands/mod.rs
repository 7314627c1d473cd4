//! The commands, one file each.

mod ab;
mod accept;
#[cfg(feature = "fleet")]
mod agent;
#[cfg(feature = "fleet")]
mod agent_config;
mod awr;
mod calibrate;
mod capacity;
mod check;
#[cfg(feature = "fleet")]
mod collect;
mod compare;
mod completions;
mod demo;
mod doctor;
mod drop;
mod dry_run;
mod export;
mod health;
mod import;
mod init;
mod init_workload;
mod list;
mod load;
mod man;
mod new_file;
mod new_folder;
mod price;
mod prove;
mod report;
mod run;
mod scorecard;
mod search;
#[cfg(feature = "serve")]
mod serve;
mod show;
mod soak;
mod study;
mod suite;
mod sweep;
mod trend;
mod watch;
mod workload;

use crate::cli::{Cli, CliCommand, CommonArgs, Prove, WorkloadCommand};
use crate::console::Console;
use crate::context;
use crate::exit::Exit;

/// Executes the command of the command line.
pub(crate) fn run(cli: &Cli, talk: &Console) -> anyhow::Result<Exit> {
    let common = &cli.common;
    if !needs_plan(&cli.command, common) {
        // A command without a plan would otherwise ignore invalid options.
        dyno_plan::check_options(&context::options(common))?;
    }
    match &cli.command {
        CliCommand::Demo(args) => demo::run(args, talk),
        CliCommand::Doctor => doctor::run(common, talk),
        CliCommand::Init(args) => init::run(common, args, talk),
        CliCommand::Check(args) => check::run(common, args, talk),
        CliCommand::Load(args) => load::run(common, args, talk),
        CliCommand::Run(args) => run::run(common, args, talk),
        CliCommand::Sweep(args) => sweep::run(common, args, talk),
        CliCommand::Search(args) => search::run(common, args, talk),
        CliCommand::Soak(args) => soak::run(common, args, talk),
        CliCommand::Ab(args) => ab::run(common, args, talk),
        CliCommand::Suite(args) => suite::run(common, args, talk),
        CliCommand::Study(args) => study::run(common, args, talk),
        CliCommand::Health(args) => health::run(common, args, talk),
        CliCommand::Price(args) => price::run(common, args, talk),
        CliCommand::Scorecard(args) => scorecard::run(common, args, talk),
        CliCommand::Calibrate(args) => calibrate::run(common, args, talk),
        CliCommand::Capacity(args) => capacity::run(common, args, talk),
        CliCommand::Watch(args) => watch::run(common, args, talk),
        #[cfg(feature = "fleet")]
        CliCommand::Agent(args) => agent::run(args, talk),
        #[cfg(feature = "fleet")]
        CliCommand::Collect(args) => collect::run(common, args, talk),
        #[cfg(feature = "serve")]
        CliCommand::Serve(args) => serve::run(common, args, talk),
        CliCommand::List(args) => list::run(common, args, talk),
        CliCommand::Show(args) => show::run(common, args, talk),
        CliCommand::Compare(args) => compare::run(common, args, talk),
        CliCommand::Trend(args) => trend::run(common, args, talk),
        CliCommand::Import(args) => import::run(common, args, talk),
        CliCommand::OldImport(_) => unreachable!("the command line gives it its present name"),
        CliCommand::Report(args) => report::run(common, args, talk),
        CliCommand::Export(args) => export::run(common, args, talk),
        CliCommand::Drop(args) => drop::run(common, args, talk),
        CliCommand::Prove(args) => prove::run(common, args, talk),
        CliCommand::Awr(args) => awr::run(common, args, talk),
        CliCommand::Workload(WorkloadCommand::Check(args)) => workload::check(common, args, talk),
        CliCommand::Completions(args) => completions::run(args),
        CliCommand::Man(args) => man::run(args, talk),
    }
}

/// Whether the command reads a plan, which also checks the options.
fn needs_plan(command: &CliCommand, common: &CommonArgs) -> bool {
    match command {
        CliCommand::Prove(Prove::Window(_)) => false,
        CliCommand::Check(_)
        | CliCommand::Load(_)
        | CliCommand::Run(_)
        | CliCommand::Drop(_)
        | CliCommand::Prove(_) => true,
        // A resumed sweep refuses all options.
        CliCommand::Sweep(_)
        | CliCommand::Search(_)
        | CliCommand::Soak(_)
        | CliCommand::Ab(_)
        | CliCommand::Suite(_)
        | CliCommand::Watch(_) => true,
        CliCommand::Import(args) => import::needs_plan(args),
        CliCommand::Init(_)
        | CliCommand::List(_)
        | CliCommand::Show(_)
        | CliCommand::Compare(_)
        | CliCommand::Trend(_) => false,
        #[cfg(feature = "serve")]
        CliCommand::Serve(_) => false,
        #[cfg(feature = "fleet")]
        CliCommand::Agent(_) | CliCommand::Collect(_) => false,
        CliCommand::Calibrate(_)
        | CliCommand::Study(_)
        | CliCommand::OldImport(_)
        | CliCommand::Report(_)
        | CliCommand::Export(_)
        | CliCommand::Health(_)
        | CliCommand::Price(_)
        | CliCommand::Scorecard(_)
        | CliCommand::Capacity(_)
        | CliCommand::Awr(_) => false,
        // It reads a plan if a target is named.
        CliCommand::Workload(_) => !common.target.is_empty(),
        CliCommand::Demo(_) | CliCommand::Doctor | CliCommand::Completions(_) | CliCommand::Man(_) => false,
    }
}
