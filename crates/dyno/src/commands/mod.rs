//! One file per command.

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
mod drop;
mod export;
mod health;
mod import;
mod import_metrics;
mod import_pgbench;
mod import_slob;
mod import_statements;
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

use crate::cli::{Cli, Command, Common, Prove, Workload};
use crate::context;
use crate::exit::Exit;
use crate::talk::Talk;

/// Does what the command line says.
pub(crate) fn run(cli: &Cli, talk: &Talk) -> anyhow::Result<Exit> {
    let common = &cli.common;
    if !needs_plan(&cli.command, common) {
        // A command that needs no plan would else take no notice of wrong ones.
        dyno_plan::check_options(&context::options(common))?;
    }
    match &cli.command {
        Command::Init(args) => init::run(common, args, talk),
        Command::Check(args) => check::run(common, args, talk),
        Command::Load(args) => load::run(common, args, talk),
        Command::Run(args) => run::run(common, args, talk),
        Command::Sweep(args) => sweep::run(common, args, talk),
        Command::Search(args) => search::run(common, args, talk),
        Command::Soak(args) => soak::run(common, args, talk),
        Command::Ab(args) => ab::run(common, args, talk),
        Command::Suite(args) => suite::run(common, args, talk),
        Command::Study(args) => study::run(common, args, talk),
        Command::Health(args) => health::run(common, args, talk),
        Command::Price(args) => price::run(common, args, talk),
        Command::Scorecard(args) => scorecard::run(common, args, talk),
        Command::Calibrate(args) => calibrate::run(common, args, talk),
        Command::Capacity(args) => capacity::run(common, args, talk),
        Command::Watch(args) => watch::run(common, args, talk),
        #[cfg(feature = "fleet")]
        Command::Agent(args) => agent::run(args, talk),
        #[cfg(feature = "fleet")]
        Command::Collect(args) => collect::run(common, args, talk),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(common, args, talk),
        Command::List(args) => list::run(common, args, talk),
        Command::Show(args) => show::run(common, args, talk),
        Command::Compare(args) => compare::run(common, args, talk),
        Command::Trend(args) => trend::run(common, args, talk),
        Command::Import(args) => import::run(common, args, talk),
        Command::ImportSlob(args) => import_slob::run(common, args, talk),
        Command::ImportPgbench(args) => import_pgbench::run(common, args, talk),
        Command::ImportStatements(args) => import_statements::run(common, args, talk),
        Command::ImportMetrics(args) => import_metrics::run(common, args, talk),
        Command::Report(args) => report::run(common, args, talk),
        Command::Export(args) => export::run(common, args, talk),
        Command::Drop(args) => drop::run(common, args, talk),
        Command::Prove(args) => prove::run(common, args, talk),
        Command::Awr(args) => awr::run(common, args, talk),
        Command::Workload(Workload::Check(args)) => workload::check(common, args, talk),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args, talk),
    }
}

/// Whether the command reads a plan, and so checks the options with it.
fn needs_plan(command: &Command, common: &Common) -> bool {
    match command {
        Command::Prove(Prove::Window(_)) => false,
        Command::Check(_) | Command::Load(_) | Command::Run(_) | Command::Drop(_) | Command::Prove(_) => true,
        // A sweep that is resumed refuses all options; an import has keys of its own meaning.
        Command::Sweep(_)
        | Command::Search(_)
        | Command::Soak(_)
        | Command::Ab(_)
        | Command::Suite(_)
        | Command::Watch(_)
        | Command::Import(_) => true,
        Command::Init(_) | Command::List(_) | Command::Show(_) | Command::Compare(_) | Command::Trend(_) => {
            false
        }
        #[cfg(feature = "serve")]
        Command::Serve(_) => false,
        #[cfg(feature = "fleet")]
        Command::Agent(_) | Command::Collect(_) => false,
        Command::Calibrate(_)
        | Command::Study(_)
        | Command::ImportSlob(_)
        | Command::ImportMetrics(_)
        | Command::ImportPgbench(_)
        | Command::Report(_)
        | Command::Export(_)
        | Command::Health(_)
        | Command::Price(_)
        | Command::Scorecard(_)
        | Command::Capacity(_)
        | Command::Awr(_) => false,
        Command::ImportStatements(args) => args.awr.is_none(),
        // It reads one where a target is named.
        Command::Workload(_) => !common.target.is_empty(),
        Command::Completions(_) | Command::Man(_) => false,
    }
}
