//! The command line: options that all commands share, and one variant per command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use dyno_plan::{Engine, READY, Span};

use crate::commands::Awr;

/// A dynamometer for database platforms: loads data, drives a known load, and proves that the numbers agree.
#[derive(Debug, Parser)]
#[command(name = "dyno", version, max_term_width = 100, propagate_version = true, after_long_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  dyno init                                     write a commented plan, dyno.toml
  dyno load && dyno run                         load the data, then one run on SQLite
  dyno run --set run.sessions_per_schema=8      the same with eight sessions
  dyno check --target postgres://dyno@db1/bench look at a PostgreSQL server before using it
  dyno list; dyno show last                     what was run, and the latest record

Exit codes:
  0 done and valid    1 done, but the audit found the run invalid    2 wrong usage or plan
  3 the target or the host failed    130 interrupted; what was measured is stored";

/// The plan file where none is named.
pub(crate) const DEFAULT_PLAN: &str = "dyno.toml";

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// The plan file.
    #[arg(long, global = true, value_name = "FILE", default_value = DEFAULT_PLAN, env = "DYNO_PLAN")]
    pub(crate) plan: PathBuf,
    /// The database, instead of the plan's target.url; never with a password in it. Given several times: all of them at once.
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) target: Vec<String>,
    /// Any key of the plan, over what the file says; can be given many times.
    #[arg(long = "set", global = true, value_name = "SECTION.KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The file that keeps all runs [default: in the user's data directory].
    #[arg(long, global = true, value_name = "FILE", env = "DYNO_REPOSITORY")]
    pub(crate) repository: Option<PathBuf>,
    /// Data for machines on stdout; talk stays on stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No talk but errors.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// More talk.
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a commented plan file.
    #[command(
        after_long_help = "Examples:\n  dyno init\n  dyno init --engine postgres --plan pg.toml\n  dyno init --ready oltp-80-20 --engine postgres --plan oltp.toml"
    )]
    Init(Init),
    /// Look for everything that would prevent or falsify a run, with the way out.
    #[command(
        after_long_help = "Examples:\n  dyno check\n  dyno check --target postgres://dyno@db1/bench --set run.sessions_per_schema=64\n  dyno check --deep --target oracle://dyno@db1:1521/bench\n  dyno check --grants --target oracle://dyno@db1/bench > grants.sql"
    )]
    Check(Check),
    /// Create, fill and verify the data.
    #[command(
        after_long_help = "The same data already there is recognised, an interrupted load is resumed.\n\nExamples:\n  dyno load\n  dyno load --set data.scale=1G --replace"
    )]
    Load(Load),
    /// One run: live progress, result, audit; the record is stored.
    #[command(
        after_long_help = "Ctrl-C ends the run and stores what was measured; twice ends at once.\n\nExamples:\n  dyno run\n  dyno run --set workload.update_pct=20 --set run.time=5m\n  dyno run --variant nfs4 --tag after-patch\n  dyno run --json > run.json"
    )]
    Run(Run),
    /// Runs over a grid of settings, from the plan's sweep section: the table grows line by line, the points follow.
    #[command(
        after_long_help = "Every run is stored as soon as it has ended. Ctrl-C keeps what was measured, twice ends at once; --resume goes on after \
            that, after a crash, and with runs that failed. Data is loaded where it is not there, once for each layout.\n\n\
            Examples:\n  dyno sweep --set sweep.sessions=1,2,4,8,16,32 --set sweep.update_pct=0,20\n  \
            dyno sweep --dry-run\n  dyno sweep --set sweep.sessions=1,2,4,8,16,32,64 --set sweep.until=saturation --set sweep.repeats=5\n  \
            dyno sweep --resume"
    )]
    Sweep(Sweep),
    /// The highest sessions or rate that keeps limits of latency: doubling, halving, and each end confirmed by more runs.
    #[command(
        after_long_help = "A limit is mean, p50, p95, p99, p999 or max of response time, of all operations or of one class. In an open loop \
            the rate must come about, too. Exit code 1: not even the lowest load keeps the limits.\n\n\
            Examples:\n  dyno search --limit 'p99 <= 2ms'\n  dyno search --limit 'p99 <= 2ms' --limit 'update.mean <= 5ms' --max 256\n  \
            dyno search --over rate --from 1000 --limit 'p99 <= 5ms' --set run.sessions_per_schema=32"
    )]
    Search(Search),
    /// One setting for hours: throughput minute by minute, drift, falls that last, stalls.
    #[command(
        after_long_help = "Ctrl-C ends it and keeps what was measured.\n\nExamples:\n  dyno soak --time 8h --set workload.update_pct=50\n  dyno soak --time 20m --set observe.interval=500ms"
    )]
    Soak(Soak),
    /// Two sides by turns (A B B A …), so that drift meets both alike.
    #[command(
        after_long_help = "A side is KEY=VALUE[,KEY=VALUE…] over the plan, or a plan file; an empty one is the plan as it is. In the end the \
            sides are compared, as dyno compare does; exit code 1 also where a --gate is broken.\n\n\
            Examples:\n  dyno ab --a workload.redo=lite --b workload.redo=heavy --pairs 10\n  dyno ab --a '' --b work_unit=256\n  \
            dyno ab --a nfs.toml --b direct-nfs.toml --gate \"ops_per_s >= -3%\""
    )]
    Ab(Ab),
    /// The runs in the repository, latest first.
    #[command(
        after_long_help = "Examples:\n  dyno list\n  dyno list --limit 100 --status invalid\n  dyno list --sweeps\n  dyno list --sweep last"
    )]
    List(List),
    /// Whole records, readably; several runs make one table.
    #[command(
        after_long_help = "A run is named by its id, the beginning of it, `last` or `last~N`; several by their sweep, tag:NAME or variant:NAME.\n\nExamples:\n  dyno show\n  dyno show 20260321-142501-7f3a --json\n  dyno show last~2 last~1 last"
    )]
    Show(Show),
    /// What differs between two sets of runs, by how much, whether it is real, and what else differed.
    #[command(
        after_long_help = "Each set is one or more names with commas between them: a run (last, last~2, an id), a sweep, tag:NAME or \
            variant:NAME. Runs at the same point go together; with repeats there is a verdict, with one run each never. \
            With more than two sets, each is held against the first.\n\n\
            Examples:\n  dyno compare last~1 last\n  dyno compare tag:before tag:after --metric ops_per_s,service_p99_us\n  \
            dyno compare variant:ext4 variant:xfs variant:btrfs --margin 3\n  \
            dyno compare tag:release last,last~1,last~2,last~3 --gate \"ops_per_s >= -3%\" --gate \"worst service_p99_us <= 10%\"\n\n\
            Exit codes: 0 compared and every gate holds, 1 a gate is broken, 2 wrong usage, 3 the repository failed."
    )]
    Compare(Compare),
    /// What became of a measure over the runs of one plan, with the moments at which it changed.
    #[command(
        after_long_help = "Without runs named: all of the latest run's plan and target. Changes are found by E-Divisive; nine runs are the least.\n\n\
            Examples:\n  dyno trend\n  dyno trend --like 20260321-142501-7f3a --metric service_p99_us\n  dyno trend tag:nightly --json"
    )]
    Trend(Trend),
    /// Results of other tools and documents as run records: a CSV file, one record a line; or the records in a report.
    #[command(
        after_long_help = "Each --map says what a column is: COLUMN=FIELD, with :UNIT behind it where it is not the field's own, and \
            @TARGET for one of several databases. FIELD is sessions, ops (a total), ops_per_s, rows_per_s, seconds, \
            service_mean_us, service_p99_us, variant, tag, started_at, a key of the plan (workload.update_pct), a metric \
            (logical_reads_per_s), any other name with a unit (tpcc_per_s:1/s), or label. Units: us ms s, 1/s blocks/s rows/s bytes/s \
            KB/s MB/s MiB/s GB/s, %, count blocks rows bytes sessions. Columns that are not mapped are left out; an empty cell \
            stays absent. --set tells what the file does not: --set workload.work_unit=256 --set run.time=180s.\n\n\
            Examples:\n  dyno import slob.csv --map sessions=sessions --map ops=ops --map lio_per_s=logical_reads_per_s --map variant=variant \\\n    \
            --set run.time=180s --set workload.work_unit=256 --tag slob --dry-run\n  \
            dyno import pdbs.csv --map sessions=sessions --map ops=ops_per_s --map ops_pdb1=ops_per_s@pdb1 --map ops_pdb2=ops_per_s@pdb2\n  dyno import report.html"
    )]
    Import(Import),
    /// A plan from another tool's configuration: slob.conf of SLOB 2.0 to 2.5, or pgio.conf.
    #[command(
        after_long_help = "The plan goes to stdout, or to the file behind -o, with a comment for each parameter: that it says the same, what \
            differs by design, or why a plan has nothing for it. Passwords are never copied.\n\
            runit.sh takes schemas and sessions as arguments: give them as --schemas and --sessions.\n\n\
            Examples:\n  dyno import-slob slob.conf --schemas 4 -o dyno.toml\n  \
            dyno import-slob slob.conf -s 4 -t 32 --target oracle://dyno@db1:1521/ORCLPDB1 -o dyno.toml\n  \
            dyno import-slob pgio.conf --target postgres://pgio@db1/pgio > pgio.toml\n  dyno import-slob slob.conf --json"
    )]
    ImportSlob(ImportSlob),
    /// Runs as one page with charts, as a picture, or as a table for other programs.
    #[command(
        after_long_help = "A run is named by its id, the beginning of it, `last` or `last~N`; a sweep's name, tag:NAME and variant:NAME stand for all their runs.\n\
            The page needs no network and no scripts, and holds the whole records: `dyno import` takes them out again.\n\n\
            Examples:\n  dyno report\n  dyno report last~2 last~1 last -o ramp.html\n  dyno report sweep-20260321-142501-7f3a -o sweep.html\n  \
            dyno report last --format md >> notes.md\n  dyno report last~9 last -o petal.svg --chart petal\n  dyno report last -o run.png"
    )]
    Report(Report),
    /// Remove exactly what Dyno created in the target, after showing it.
    #[command(after_long_help = "Examples:\n  dyno drop\n  dyno drop --yes --target sqlite:bench.db")]
    Drop(Drop),
    /// Prove what Dyno or the platform claims: nothing lost, nothing counted twice, nothing made up.
    #[command(
        subcommand,
        after_long_help = "Exit codes: 0 proved, 1 not proved, 2 wrong usage, 3 the target failed, 130 interrupted.\n\nExamples:\n  dyno prove window\n  dyno prove updates\n  dyno prove durability --kill-command 'ssh db1 pkill -9 postgres' --restart-wait 2m"
    )]
    Prove(Prove),
    /// Oracle's own reports, AWR and STATSPACK: text or HTML, instance, cluster, pluggable database.
    #[command(
        after_long_help = "One line for each report and instance; a directory is read with all below it, packed files (.gz) are unpacked.\n\n\
            Exit codes: 0 all read, 1 some with warnings, 2 some unreadable.\n\nExamples:\n  dyno awr awrrpt_1_100_101.html\n  \
            dyno awr reports/ --format csv > reports.csv\n  dyno awr reports/ --columns begin_time,aas,read_iops,'event_avg_ms.log file sync'\n  \
            dyno awr report.html --format json --sql-text"
    )]
    Awr(Awr),
    /// Completions for a shell, on stdout.
    #[command(
        after_long_help = "Examples:\n  dyno completions bash > /etc/bash_completion.d/dyno\n  dyno completions zsh > ~/.zfunc/_dyno"
    )]
    Completions(Completions),
    /// Manual pages.
    #[command(
        after_long_help = "Examples:\n  dyno man | man -l -\n  dyno man --dir /usr/local/share/man/man1"
    )]
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The engine that the plan is for.
    #[arg(long, value_name = "sqlite|postgres|mysql|oracle", default_value_t = Engine::Sqlite)]
    pub(crate) engine: Engine,
    /// A ready plan of a published experiment instead of an empty one.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(READY.map(|ready| ready.name)))]
    pub(crate) ready: Option<String>,
    /// Overwrite a plan that is there.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Load a small schema of its own, run every operation, compare with what must come of it, and drop it.
    #[arg(long)]
    pub(crate) deep: bool,
    /// Print what an Oracle administrator runs for a user of Dyno, and connect to nothing.
    #[arg(long, conflicts_with = "deep")]
    pub(crate) grants: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Load {
    /// Drop data of another shape first.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) marks: Marks,
}

/// Names under which runs are found again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args, serde::Serialize, serde::Deserialize)]
pub(crate) struct Marks {
    /// The variant of the platform that is measured, such as `ext4`; compare takes variant:NAME.
    #[arg(long, value_name = "NAME", value_parser = mark)]
    pub(crate) variant: Option<String>,
    /// A mark to find runs again by tag:NAME; can be given many times.
    #[arg(long, value_name = "NAME", value_parser = mark)]
    pub(crate) tag: Vec<String>,
}

/// A name that `tag:NAME` and `variant:NAME` can find: commas stand between such names.
fn mark(name: &str) -> Result<String, String> {
    match name.trim() {
        "" => Err("a name must not be empty".to_owned()),
        name if name.contains(',') => Err(format!("a name has no comma: try {:?}", name.replace(',', "-"))),
        name => Ok(name.to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// At most so many runs.
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only runs that came to this: valid, invalid, interrupted, failed, running.
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Sweeps, searches, soaks and A/B comparisons instead of runs.
    #[arg(long, conflicts_with_all = ["status", "sweep"])]
    pub(crate) sweeps: bool,
    /// Only runs of this sweep, search, soak or A/B comparison: its name, the beginning of it, or `last`.
    #[arg(long, value_name = "SWEEP")]
    pub(crate) sweep: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// Go on with a sweep that was cut off: the latest, or the one of this name.
    #[arg(long, value_name = "SWEEP", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    /// Only say which runs it would do, in which order, and how long they take.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Drop data of another shape that is there first.
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) marks: Marks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Over {
    /// Sessions over all schemas.
    Sessions,
    /// Operations per second of an open loop.
    Rate,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What must be kept, such as `p99 <= 2ms`; all of them, if given several times.
    #[arg(long, value_name = "LIMIT", required = true)]
    pub(crate) limit: Vec<dyno_analyze::Limit>,
    /// What rises.
    #[arg(long, value_enum, default_value_t = Over::Sessions)]
    pub(crate) over: Over,
    /// The load to begin with: sessions per schema, or operations per second [default: 1 or 100].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) from: Option<u64>,
    /// The highest load to try [default: 1024 or 1000000].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) max: Option<u64>,
    /// Runs of each end before it is believed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) confirm: u32,
    /// Ends that are this close together are close enough, % [default: 0 or 5].
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) resolution: Option<u32>,
    #[command(flatten)]
    pub(crate) marks: Marks,
}

#[derive(Debug, Args)]
pub(crate) struct Soak {
    /// How long.
    #[arg(long, value_name = "DURATION", default_value = "8h")]
    pub(crate) time: Span,
    #[command(flatten)]
    pub(crate) marks: Marks,
}

#[derive(Debug, Args)]
pub(crate) struct Ab {
    /// Side A.
    #[arg(long, value_name = "SET")]
    pub(crate) a: String,
    /// Side B.
    #[arg(long, value_name = "SET")]
    pub(crate) b: String,
    /// How many runs of each side.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) pairs: u32,
    #[command(flatten)]
    pub(crate) rules: CompareRules,
    #[command(flatten)]
    pub(crate) marks: Marks,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Which runs.
    #[arg(default_value = "last")]
    pub(crate) runs: Vec<String>,
    /// Only the table of results and the audit's findings.
    #[arg(long)]
    pub(crate) table: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The sets, the first of which is what the others are held against.
    #[arg(required = true, num_args = 2.., value_name = "RUNS")]
    pub(crate) sides: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: CompareRules,
}

/// How runs are compared.
#[derive(Debug, Args)]
pub(crate) struct CompareRules {
    /// Measures to compare, the most important first [default: load, latency, reads, redo and CPU].
    #[arg(long, value_name = "MEASURE", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Differences up to this many percent are no matter.
    #[arg(long, value_name = "PERCENT", default_value_t = dyno_analyze::compare::MARGIN_PCT)]
    pub(crate) margin: f64,
    /// A limit that the difference has to hold, such as "ops_per_s >= -3%"; can be given many times.
    #[arg(long, value_name = "LIMIT")]
    pub(crate) gate: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Trend {
    /// The runs, as for compare [default: all of the plan and target of --like].
    #[arg(value_name = "RUNS")]
    pub(crate) runs: Option<String>,
    /// The run whose plan and target are followed.
    #[arg(long, value_name = "RUN", default_value = "last", conflicts_with = "runs")]
    pub(crate) like: String,
    /// The measure.
    #[arg(long, value_name = "MEASURE", default_value = "ops_per_s")]
    pub(crate) metric: String,
    /// At most so many runs, the latest.
    #[arg(long, short = 'n', default_value_t = 300)]
    pub(crate) limit: usize,
    /// Largest chance at which a change still counts as one.
    #[arg(long, value_name = "P", default_value_t = 0.02)]
    pub(crate) significance: f64,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file; `#` begins a comment line, the first other line names the columns.
    pub(crate) file: PathBuf,
    /// What a column is, `COLUMN=FIELD[:UNIT][@TARGET]`; can be given many times.
    #[arg(long, value_name = "COLUMN=FIELD")]
    pub(crate) map: Vec<String>,
    #[command(flatten)]
    pub(crate) marks: Marks,
    /// The product that the figures are of: `Oracle`.
    #[arg(long, value_name = "NAME")]
    pub(crate) product: Option<String>,
    /// Only show what would be stored.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportSlob {
    /// The slob.conf or pgio.conf.
    pub(crate) file: PathBuf,
    /// The plan to write [default: stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite a plan that is there.
    #[arg(long)]
    pub(crate) force: bool,
    /// Schemas: the argument of runit.sh, or its -s [default: 1, for pgio what the file says].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) schemas: Option<u32>,
    /// Sessions on each schema: -t of runit.sh [default: what the file says].
    #[arg(long, short = 't', visible_alias = "threads", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sessions: Option<u32>,
    /// Whose file it is [default: told by its parameters].
    #[arg(long, value_name = "slob|pgio")]
    pub(crate) kit: Option<dyno_plan::conf::Kit>,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Which runs and sweeps.
    #[arg(default_value = "last", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// The file to write, `-` for stdout [default: report.html for HTML, else stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The format [default: by the ending of the file, else html].
    #[arg(long, value_name = "html|md|csv|json|svg|png")]
    pub(crate) format: Option<String>,
    /// Only this chart, for svg and png: throughput, petal, cpu, histogram, ...
    #[arg(long, value_name = "NAME")]
    pub(crate) chart: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Drop {
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Prove {
    /// That what is measured is what was done: runs on a scripted database whose every figure is known. Needs no database.
    #[command(
        after_long_help = "Five short runs drive a database in memory that keeps its own account of every operation. Each recorded figure \
            (counts, rows, errors, counters, percentiles, every bucket of every histogram) must equal the scripted one.\n\n\
            Examples:\n  dyno prove window\n  dyno prove window --all\n  dyno prove window --json > proof.json"
    )]
    Window(ProveWindow),
    /// That a run's updates are in the table: nothing lost, nothing done twice. Needs loaded data.
    #[command(
        after_long_help = "Does a run of the plan (with updates only, where the plan has none), reads the version of every row before and \
            after it, and holds what each row has grown by against the commits that the database acknowledged. The run \
            is stored as any other. Reading all rows warms caches, so it is no measurement of a cold one.\n\n\
            Examples:\n  dyno prove updates\n  dyno prove updates --target postgres://dyno@db1/bench --set run.sessions_per_schema=16\n  \
            dyno prove updates --set workload.drive=server --set run.time=10s"
    )]
    Updates,
    /// That acknowledged commits outlive a server that is killed. PostgreSQL, with loaded data.
    #[command(
        after_long_help = "Updates run; after a while your command kills the server, hard; when it is back, every commit that it had \
            acknowledged must be there. Operations under way at that moment have an unknown end and are never counted as \
            lost. Kill the machine, not only the server, to prove what fsync = off and write caches do.\n\
            Commands run through sh; one that leaves a server behind must redirect its output (pg_ctl -l FILE).\n\n\
            Examples:\n  dyno prove durability --kill-command 'ssh db1 pkill -9 postgres' --restart-command 'ssh db1 systemctl start postgresql'\n  \
            dyno prove durability --kill-command 'virsh reset db1' --restart-wait 5m --after 1m"
    )]
    Durability(ProveDurability),
}

#[derive(Debug, Args)]
pub(crate) struct ProveDurability {
    /// Kills the server the hard way; run through `sh -c`.
    #[arg(long, value_name = "CMD")]
    pub(crate) kill_command: String,
    /// Starts the server again; run through `sh -c`. Without it the server is expected to come back by itself.
    #[arg(long, value_name = "CMD")]
    pub(crate) restart_command: Option<String>,
    /// How long updates run before the server is killed.
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub(crate) after: Span,
    /// The longest wait for the server to come back, recovery included.
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(crate) restart_wait: Span,
}

#[derive(Debug, Args)]
pub(crate) struct ProveWindow {
    /// Every figure, not only one line for each scene and the figures that differ.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one page per command into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
