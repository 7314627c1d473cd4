//! The command line: one variant for each command, with its help.

mod awr;
mod build;
mod calibrate;
mod capacity;
mod common;
#[cfg_attr(not(feature = "fleet"), path = "cli/no_fleet.rs")]
mod fleet;
mod groups;
mod health;
mod import;
mod levels;
mod measuring;
mod notation;
mod prepare;
mod program;
mod proofs;
mod results;
#[cfg(feature = "serve")]
mod serve;
mod shared;
mod study;
mod suite;
mod verdicts;
mod watch;
mod workload;

use clap::{Parser, Subcommand};

pub(crate) use awr::{AwrArgs, AwrCommand, AwrReadArgs, Compat, Diff, Format, TimelineArgs};
pub(crate) use calibrate::Calibrate;
pub(crate) use capacity::CapacityArgs;
pub(crate) use common::{CommonArgs, DEFAULT_PLAN};
pub(crate) use fleet::{AgentAccessArgs, DriverHostArgs};
#[cfg(feature = "fleet")]
pub(crate) use fleet::{AgentArgs, Collect, GROUP, Meeting, NATS};
pub(crate) use health::Health;
pub(crate) use import::{
    ImportArgs, ImportCommand, ImportMetrics, ImportPgbench, ImportResults, ImportSlob, ImportStatements,
    OldImportCommand,
};
pub(crate) use measuring::{AbArgs, RunArgs, SearchArgs, SoakArgs, SweepArgs};
pub(crate) use prepare::{Check, Drop, Init, LoadArgs};
pub(crate) use program::{Completions, DemoArgs, Man};
pub(crate) use proofs::{Prove, ProveDurability, ProveWindow};
pub(crate) use results::{Compare, Export, List, ReportArgs, ShowArgs, TrendArgs};
#[cfg(feature = "serve")]
pub(crate) use serve::Serve;
pub(crate) use shared::MarkArgs;
pub(crate) use study::{
    ListStudies, ReportStudy, ResumeStudy, RunStudy, StudyArgs, StudyCommand, WhichStudy,
};
pub(crate) use suite::{SuiteArgs, SuiteCommand, SuiteTestArgs};
pub(crate) use verdicts::{PriceArgs, ScorecardArgs};
pub(crate) use watch::WatchArgs;
pub(crate) use workload::{CheckWorkload, WorkloadCommand};

/// A dynamometer for database platforms: loads data, drives a known load, and proves that the numbers agree.
#[derive(Debug, Parser)]
#[command(name = "dyno", version, long_version = build::DESCRIPTION.as_str(), max_term_width = 100, propagate_version = true, after_long_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

const EXAMPLES: &str = "\
Examples:
  dyno demo                                     a first measurement, without set-up
  dyno init                                     write a commented plan, dyno.toml
  dyno load && dyno run                         load the data, then one run on SQLite
  dyno run --set run.sessions_per_schema=8      run with eight sessions
  dyno check --target postgres://dyno@db1/bench check a PostgreSQL server before a run
  dyno list; dyno show last                     list the runs, and show the latest record

Exit codes:
  0 done and valid    1 done, but the audit found the run invalid    2 wrong usage or plan
  3 the target or the host failed    4 a study continues after a restart of the machine
  5 the runs do not decide a --gate
  130 interrupted; what was measured is stored";

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Measure the embedded database in a new folder: load, ramp, answer and page in half a minute.
    #[command(
        after_long_help = "The demo shows each command before it runs it. Nothing outside of its folder \
        changes. Exit code 1: the audit found a run invalid, as on a very busy machine.\n\n\
        Examples:\n  \
        dyno demo\n  \
        dyno demo --dir first-look"
    )]
    Demo(DemoArgs),
    /// Find what distorts measurements on this machine.
    #[command(
        after_long_help = "Checks processors, their frequency, clock, memory, swap, limits and tools, and the \
        load of other programs for a second. Each finding says what it distorts, and the command that changes it. \
        Nothing is changed. `dyno check` checks the database and the plan.\n\n\
        Examples:\n  \
        dyno doctor\n  \
        dyno doctor --json"
    )]
    Doctor,
    /// Write a commented plan file.
    #[command(after_long_help = "The plan contains the values of --target and --set.\n\n\
            Examples:\n  \
            dyno init\n  \
            dyno init --full                             every key with its meaning\n  \
            dyno init --list\n  \
            dyno init --target postgres://dyno@db1/bench --set data.scale=10G\n  \
            dyno init --engine postgres --plan pg.toml\n  \
            dyno init --ready oltp-80-20 --engine postgres --plan oltp.toml\n  \
            dyno init --workload shop                    a folder with your own SQL\n  \
            dyno init --workload tpcb                    a ready workload like pgbench's")]
    Init(Init),
    /// Find everything that would prevent a run or distort its figures.
    #[command(
        after_long_help = "Examples:\n  dyno check\n  dyno check --target postgres://dyno@db1/bench --set run.sessions_per_schema=64\n  dyno check --deep --target oracle://dyno@db1:1521/bench\n  dyno check --accept --target postgres://dyno@db1/bench --record accept.json\n  dyno check --grants --target oracle://dyno@db1/bench > grants.sql"
    )]
    Check(Check),
    /// Create, load and verify the test data.
    #[command(after_long_help = "Existing data of the same shape is recognized; an interrupted load is \
        resumed.\n\n\
        Examples:\n  \
        dyno load\n  \
        dyno load --set data.scale=1G --replace")]
    Load(LoadArgs),
    /// Run one measurement, audit it and store its record.
    #[command(
        after_long_help = "Progress is shown live, then the result and the audit. Ctrl-C ends the run and \
            stores what was measured; pressing it twice ends at once.\n\n\
            Examples:\n  \
            dyno run\n  \
            dyno run --time 5m --set workload.update_pct=20\n  \
            dyno run --set workload.folder=shop\n  \
            dyno run --variant nfs4 --tag after-patch\n  \
            dyno run --json > run.json"
    )]
    Run(RunArgs),
    /// Run a grid of settings and summarize each point.
    #[command(
        after_long_help = "The grid is the plan's sweep section. Each run prints a table line and is stored \
            when it ends. Ctrl-C stores what was measured; pressing it twice ends at once. --resume \
            continues after an interruption or a crash, and repeats failed runs. Missing data is loaded once \
            for each layout.\n\n\
            Examples:\n  \
            dyno sweep --set sweep.sessions=1,2,4,8,16,32 --set sweep.update_pct=0,20\n  \
            dyno sweep --dry-run\n  \
            dyno sweep --set sweep.sessions=1,2,4,8,16,32,64 --set sweep.until=saturation --set sweep.repeats=5\n  \
            dyno sweep --resume"
    )]
    Sweep(SweepArgs),
    /// Find the highest load within your latency limits.
    #[command(
        after_long_help = "The search doubles the number of sessions or the rate, then halves the distance; \
            more runs confirm both bounds. A limit is mean, p50, p95, p99, p999 or max of response time, of \
            all operations or of one class. In an open loop the rate must be reached, too. Exit code 1: even the \
            lowest load exceeds the limits.\n\n\
            Examples:\n  \
            dyno search --limit 'p99 <= 2ms' --time 30s\n  \
            dyno search --limit 'p99 <= 2ms' --limit 'update.mean <= 5ms' --max 256\n  \
            dyno search --over rate --from 1000 --limit 'p99 <= 5ms' --set run.sessions_per_schema=32"
    )]
    Search(SearchArgs),
    /// Run one setting for hours to find drift, drops and stalls.
    #[command(
        after_long_help = "The result shows throughput per minute, drift, lasting drops and stalls. Ctrl-C \
            ends the soak and stores what was measured.\n\n\
            Examples:\n  \
            dyno soak --time 8h --set workload.update_pct=50\n  \
            dyno soak --time 20m --set observe.interval=500ms"
    )]
    Soak(SoakArgs),
    /// Compare two settings with interleaved runs (A B B A …).
    #[command(
        after_long_help = "A side is KEY=VALUE[,KEY=VALUE…] on top of the plan, or a plan file; an empty \
            side is the plan unchanged. Interleaving makes drift affect both sides equally. The test stops \
            once it is decided or cannot be decided; at most 5 % of tests of equal sides report a \
            difference. --setting changes a setting of the server for all its users, after consent, and \
            restores it (docs/guides/ab.md). Exit code 1 also means that a --gate failed, and 5 that the runs \
            do not decide one.\n\n\
            Examples:\n  \
            dyno ab --a workload.redo=lite --b workload.redo=heavy --pairs 10 --dry-run\n  \
            dyno ab --a '' --b work_unit=256\n  \
            dyno ab --setting work_mem=4MB,64MB\n  \
            dyno ab --setting shared_buffers=128MB,512MB --restart-command 'systemctl restart postgresql'\n  \
            dyno ab --a nfs.toml --b direct-nfs.toml --gate \"ops_per_s >= -3%\""
    )]
    Ab(AbArgs),
    /// Test each component of the platform under rising load.
    #[command(
        after_long_help = "Each test runs through the database under rising load and finds its knee. Its \
            data is created before and dropped after it. Ctrl-C stores what was measured; --resume \
            continues. A test of your own is a folder with workload.toml and tests.toml \
            (docs/reference/suite-tests.md); --from runs the tests of a folder.\n\n\
            Examples:\n  \
            dyno suite list\n  \
            dyno suite --quick\n  \
            dyno suite --quick --target postgres://dyno@db1/bench --group cpu\n  \
            dyno suite --test server-lookup --test server-scan\n  \
            dyno suite --full --target postgres://dyno@db1/bench --set data.scale=64G\n  \
            dyno suite --resume"
    )]
    Suite(SuiteArgs),
    /// Apply, verify, measure and revert variants of the platform.
    #[command(after_long_help = "A study is a plan with [study], [[variant]] and [[task]] tables \
        (docs/guides/studies.md), or the name of a ready study. It measures the effect of changed settings \
        in interleaved variants. Every change is recorded on disk before it is made, so that Ctrl-C, a \
        failure, a kill or a reboot leaves no change behind: `dyno study resume` first restores everything, \
        then continues. `dyno study plan` shows every command in execution order and runs none.\n\n\
        Examples:\n  \
        dyno study list\n  \
        dyno study plan file-systems\n  \
        dyno study run file-systems --param size=8G\n  \
        dyno study run swappiness.toml --target postgres://dyno@db1/bench\n  \
        dyno study resume\n  \
        dyno study report -o study.html")]
    Study(StudyArgs),
    /// Check the results of a suite against expected limits.
    #[command(
        after_long_help = "The file contains one limit per expectation: `storage-random-read >= 100000 at \
            p99 <= 1ms`, `server-lookup.alone <= 200us`. --init writes the file from a good suite.\n\n\
            Examples:\n  \
            dyno health --init suite-20261123-183926-3eb9\n  \
            dyno health last --expect expect.toml\n  \
            dyno health last -o sheet.html\n\n\
            Exit codes: 0 all are met, 1 one is not met or unknown, 2 wrong usage, 3 the repository failed."
    )]
    Health(Health),
    /// Compare platforms over all tests of their suites.
    #[command(
        after_long_help = "A platform is `last`, suite names separated by commas, variant:NAME (all suites \
            of the variant, as repeats), or a platform from a document: server-in-memory-oracle, \
            random-read-flash-oracle. Each platform is compared with the first. There is no overall index.\n\n\
            Examples:\n  \
            dyno scorecard variant:old variant:new\n  \
            dyno scorecard old=suite-20261123-183926-3eb9 new=last -o scorecard.html\n  \
            dyno scorecard random-read-flash-oracle last\n  \
            dyno scorecard variant:a variant:b --figure alone"
    )]
    Scorecard(ScorecardArgs),
    /// Compute price/performance from platform prices.
    #[command(after_long_help = "Examples:\n  \
            dyno price --init            write an example prices.toml to edit\n  \
            dyno price\n  \
            dyno price prices.toml -o price.html")]
    Price(PriceArgs),
    /// Measure the raw limits of this machine without a database.
    #[command(
        after_long_help = "Measures the device (with fio), its syncs, and memory. A suite on the same \
            machine shows its storage results as a share of these limits. Figures that cannot come from the \
            device are refused with the reason. The device is loaded to its limits.\n\n\
            Examples:\n  \
            dyno calibrate --quick\n  \
            dyno calibrate /srv/postgresql\n  \
            dyno calibrate --target postgres://dyno@db1/bench --p99 500us\n  \
            dyno calibrate /srv/redo --only commit --commit-size 4K\n  \
            dyno report last -o limits.html"
    )]
    Calibrate(Calibrate),
    /// Observe a running database without adding load.
    #[command(
        after_long_help = "Counters, waits and sessions are read every second. Nothing is created, written \
            or locked; Dyno needs no tables of its own. Counters that this user may not read are listed. \
            Ctrl-C ends the watch and stores what was read.\n\n\
            Examples:\n  \
            dyno watch postgres://dyno@db1/shop\n  \
            dyno watch postgres://dyno@db1/shop --time 8h --interval 5s\n  \
            dyno watch mysql://dyno@db1/shop --json > shop.jsonl\n  \
            dyno watch postgres://dyno@db1/shop --set observe.hosts=ssh://db1\n  \
            dyno show last; dyno report last -o present.html\n  \
            dyno capacity sweep:last last"
    )]
    Watch(WatchArgs),
    /// Drive sessions on this host for a controller, or observe it.
    #[cfg(feature = "fleet")]
    #[command(
        after_long_help = "Start one agent on each driver host; controllers find it at the NATS server under \
            the name of its group (`dyno run --hosts 3`). A database password is never sent: \
            target.password_env or target.password_file name where it is on this host. Ctrl-C ends the \
            agent; results that were not fetched stay on its disk (`dyno collect`).\n\n\
            With --observe-only it drives no sessions: on a database host it reports the host's counters to \
            runs with observe.hosts=agent or agent://NAME.\n\n\
            Examples:\n  \
            dyno agent --nats nats://nats1:4222 --group oltp\n  \
            dyno agent --nats tls://nats1:4222 --nats-auth nats.toml --name client-2\n  \
            dyno agent --observe-only --nats nats://nats1:4222 --name db1"
    )]
    Agent(AgentArgs),
    /// Fetch results that agents kept after their controller was lost.
    #[cfg(feature = "fleet")]
    #[command(
        after_long_help = "The results of the sessions are merged and stored as the record of a failed run. \
            The database's counters were not read, so such a record is not a result. Agents keep a run until \
            it is stored.\n\n\
            Examples:\n  \
            dyno collect --nats nats://nats1:4222 --group oltp\n  \
            dyno collect 20261125-023000-7f3a\n  \
            dyno collect --from client-1/agent --from client-2/agent"
    )]
    Collect(Collect),
    /// Compare measured capacity with present use.
    #[command(
        after_long_help = "MEASURED is a suite, a sweep, a search or runs; USE are any number of watches \
            (`dyno watch`) and imported reports. The table shows how much of each component's knee is used \
            and which component saturates first. With use over seven days or more, it also shows when the \
            trend reaches the knee. Figures that are not comparable are listed with the reason.\n\n\
            Examples:\n  \
            dyno capacity suite-20261123-183926-3eb9 last\n  \
            dyno capacity suite-20261123-183926-3eb9 tag:monday tag:tuesday -o capacity.html\n  \
            dyno capacity sweep:last tag:awr --over 80%\n\n\
            Exit codes: 0 report printed, 1 a component exceeds --over, or nothing can be compared, 2 wrong \
            usage, 3 the repository failed."
    )]
    Capacity(CapacityArgs),
    /// Serve results as web pages and an HTTP API; start runs there.
    #[cfg(feature = "serve")]
    #[command(
        after_long_help = "The printed address contains a token; requests without it are refused. The server \
            listens on this machine only, unless --listen names another address, which requires TLS. A file \
            lists the databases that may be measured (docs/guides/serve.md).\n\n\
            Examples:\n  \
            dyno serve --target sqlite:bench.db\n  \
            dyno serve --targets targets.toml\n  \
            dyno serve --read-only --repository team.sqlite3\n  \
            dyno serve --listen 0.0.0.0:7878 --host dyno.example.org --tls-cert cert.pem --tls-key key.pem\n  \
            dyno serve --host dyno.example.org --behind-proxy"
    )]
    Serve(Serve),
    /// List the runs in the repository, latest first.
    #[command(
        after_long_help = "Examples:\n  dyno list\n  dyno list --limit 100 --status invalid\n  dyno list --sweeps\n  dyno list --sweep last"
    )]
    List(List),
    /// Show the complete records of runs.
    #[command(
        after_long_help = "Name a run by its id, a prefix of it, `last` or `last~N`; name several by their \
            sweep, tag:NAME or variant:NAME. Several runs share one table.\n\n\
            Examples:\n  \
            dyno show\n  \
            dyno show 20260321-142501-7f3a --json\n  \
            dyno show last~2 last~1 last"
    )]
    Show(ShowArgs),
    /// Compare sets of runs: differences, significance and changed settings.
    #[command(
        after_long_help = "Each set is one or more names separated by commas: a run (last, last~2, an id), a \
            sweep, tag:NAME or variant:NAME. Runs at the same point are compared with each other. A verdict \
            requires repeats. With more than two sets, each is compared with the first. Rows within the margin \
            are counted; --full shows them.\n\n\
            Examples:\n  \
            dyno compare last~1 last\n  \
            dyno compare tag:before tag:after --metric ops_per_s,service_p99_us\n  \
            dyno compare tag:before tag:after --full -o differences.html\n  \
            dyno compare variant:ext4 variant:xfs variant:btrfs --margin 3\n  \
            dyno compare tag:release last,last~1,last~2,last~3 --gate \"ops_per_s >= -3%\" --gate \"worst service_p99_us <= 10%\"\n\n\
            Exit codes: 0 compared, and every gate passed; 1 a gate failed; 2 wrong usage; 3 the repository \
            failed; 5 no gate failed, but the runs do not decide one."
    )]
    Compare(Compare),
    /// Show how a measure changed over the runs of a plan.
    #[command(
        after_long_help = "Without RUNS: all runs with the plan and target of the latest run. Changes are \
            found by E-Divisive, which needs at least nine runs.\n\n\
            Examples:\n  \
            dyno trend\n  \
            dyno trend --like 20260321-142501-7f3a --metric service_p99_us\n  \
            dyno trend tag:nightly --gate \"ops_per_s >= -5%\"\n  \
            dyno trend tag:nightly --json"
    )]
    Trend(TrendArgs),
    /// Import files of other tools: results, metrics, scripts, settings, statements.
    #[command(
        arg_required_else_help = true,
        override_usage = "dyno import <COMMAND>",
        after_long_help = "Each command has examples of its own: `dyno import results --help`.\n\n\
            Examples:\n  \
            dyno import results sysbench.log --tag sysbench\n  \
            dyno import metrics last rds.csv --time-zone UTC\n  \
            dyno import pgbench --builtin tpcb-like --scale 10 --into tpcb\n  \
            dyno import slob slob.conf --schemas 4 -o dyno.toml\n  \
            dyno import statements --target postgres://dyno@db1/shop"
    )]
    Import(ImportArgs),
    #[command(flatten)]
    OldImport(OldImportCommand),
    /// Write runs as a page with charts, a picture or a table.
    #[command(after_long_help = "Name a run by its id, a prefix of it, `last` or `last~N`; a sweep's name, \
        tag:NAME and variant:NAME stand for all their runs.\n\
        The page needs no network and no scripts, and contains the complete records: `dyno import results` \
        reads them back.\n\n\
        Examples:\n  \
        dyno report\n  \
        dyno report last~2 last~1 last -o ramp.html\n  \
        dyno report sweep-20260321-142501-7f3a -o sweep.html\n  \
        dyno report last --format md >> notes.md\n  \
        dyno report last~9 last -o petal.svg --chart petal\n  \
        dyno report last -o run.png")]
    Report(ReportArgs),
    /// Export every interval of a run as CSV.
    #[command(
        after_long_help = "The record of a run of weeks contains only an overview; the export contains every \
            interval. Several targets follow their total; the column `target` names them. Times are in µs, \
            rates per second.\n\n\
            Examples:\n  \
            dyno export > last.csv\n  \
            dyno export 20260321-142501 -o soak.csv\n  \
            dyno export last --overview"
    )]
    Export(Export),
    /// Remove exactly what Dyno created in the target, after showing it.
    #[command(after_long_help = "Examples:\n  dyno drop\n  dyno drop --yes --target sqlite:bench.db")]
    Drop(Drop),
    /// Prove that nothing is lost, counted twice or invented.
    #[command(
        subcommand,
        after_long_help = "Exit codes: 0 proved, 1 not proved, 2 wrong usage, 3 the target failed, 130 interrupted.\n\nExamples:\n  dyno prove window\n  dyno prove updates\n  dyno prove durability --kill-command 'ssh db1 pkill -9 postgres' --restart-wait 2m"
    )]
    Prove(Prove),
    /// Read Oracle AWR and STATSPACK reports (text or HTML).
    #[command(
        after_long_help = "Prints one line for each report and instance. Reports of an instance, a cluster \
            or a pluggable database are read. Directories are read recursively; compressed files (.gz) are \
            unpacked.\n\n\
            Exit codes: 0 all read, 1 some with warnings, 2 some unreadable.\n\n\
            Examples:\n  \
            dyno awr awrrpt_1_100_101.html\n  \
            dyno awr reports/ --format csv > reports.csv\n  \
            dyno awr reports/ --columns begin_time,aas,read_iops,'event_avg_ms.log file sync'\n  \
            dyno awr report.html --format json --sql-text"
    )]
    Awr(AwrArgs),
    /// Check a custom workload: your own SQL in a folder.
    #[command(
        subcommand,
        after_long_help = "The folder defines what sessions execute. `dyno init --workload shop` writes an \
            example to start from.\n\n\
            Examples:\n  \
            dyno workload check shop\n  \
            dyno workload check shop --target postgres://dyno@db1/bench"
    )]
    Workload(WorkloadCommand),
    /// Write completions for a shell to stdout.
    #[command(
        after_long_help = "Examples:\n  dyno completions bash > /etc/bash_completion.d/dyno\n  dyno completions zsh > ~/.zfunc/_dyno"
    )]
    Completions(Completions),
    /// Write manual pages for all commands.
    #[command(
        after_long_help = "Examples:\n  dyno man | man -l -\n  dyno man --dir /usr/local/share/man/man1"
    )]
    Man(Man),
}
