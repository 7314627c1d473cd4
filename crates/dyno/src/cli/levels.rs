//! Reads options that may stand before or after a command's name.
//!
//! clap passes a global option to the subcommand and keeps the values of one place only, so `dyno --set a run
//! --set b` would lose `a`. Here every level has its own copy of the options, and their values are merged.
//! Repeatable options keep their order; any other option may be given only once.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use super::{Cli, CommonArgs, groups};

/// Options of [`CommonArgs`] with a single value.
const SINGLE: [&str; 5] = ["plan", "repository", "metrics", "annotate", "events"];

impl Cli {
    /// Reads the program's arguments; on an error, reports it and exits.
    pub(crate) fn read() -> Self {
        parse(at_every_level(Cli::command()), std::env::args_os()).unwrap_or_else(|error| refuse(&error))
    }

    /// The command that `words` name, the program's name first.
    ///
    /// # Errors
    /// As on the command line.
    pub(crate) fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Self, clap::Error> {
        parse(at_every_level(Cli::command()), words.into_iter().map(OsString::from))
    }
}

fn parse(mut command: Command, args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    command.try_get_matches_from_mut(args).and_then(|matches| read(&mut command, &matches))
}

/// Shows help or reports a usage error, and exits. Only then are the commands grouped, which takes time. An
/// argument may be a file name chosen by someone else, and errors repeat it, so they show the arguments with
/// control characters escaped.
fn refuse(error: &clap::Error) -> ! {
    let grouped = groups::grouped(at_every_level(Cli::command()));
    let args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let shown = parse(grouped, args.map(|arg| OsString::from(dyno_report::text::talk(&arg))));
    // Escaping may turn an invalid argument into another kind of error.
    let shown = shown.err().filter(|shown| shown.use_stderr() == error.use_stderr());
    shown.as_ref().unwrap_or(error).exit()
}

fn read(command: &mut Command, matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let mut cli = Cli::from_arg_matches(matches).map_err(|error| error.format(command))?;
    let mut level = matches;
    let mut given_names: Vec<&str> = SINGLE.into_iter().filter(|name| is_given(level, name)).collect();
    while let Some((_, below)) = level.subcommand() {
        level = below;
        let twice =
            SINGLE.into_iter().filter(|name| is_given(level, name)).find(|name| given_names.contains(name));
        if let Some(name) = twice {
            let words = format!("the argument '--{name}' cannot be used multiple times");
            return Err(command.error(ErrorKind::ArgumentConflict, words));
        }
        given_names.extend(SINGLE.into_iter().filter(|name| is_given(level, name)));
        add(&mut cli.common, CommonArgs::from_arg_matches(level)?, level);
    }
    if cli.common.quiet && cli.common.verbose {
        let words = "the argument '--quiet' cannot be used with '--verbose'";
        return Err(command.error(ErrorKind::ArgumentConflict, words));
    }
    cli.command = cli.command.renamed();
    Ok(cli)
}

/// Defines every global option at each level, under the same help heading. The help of a command shows
/// those that have an effect on it.
fn at_every_level(command: Command) -> Command {
    let shared: Vec<clap::Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let shared: Vec<clap::Arg> = shared.into_iter().map(|arg| arg.global(false)).collect();
    command.mut_args(|arg| arg.global(false)).mut_subcommands(|sub| {
        let name = sub.get_name().to_owned();
        let shown = |arg: &clap::Arg| groups::shows(&name, arg.get_id().as_str());
        let of_command: Vec<clap::Arg> =
            shared.iter().map(|arg| if shown(arg) { arg.clone() } else { arg.clone().hide(true) }).collect();
        below(sub.args(&of_command), &of_command)
    })
}

fn below(command: Command, shared: &[clap::Arg]) -> Command {
    command.mut_subcommands(|sub| below(sub.args(shared), shared))
}

fn is_given(level: &ArgMatches, name: &str) -> bool {
    level.value_source(name) == Some(ValueSource::CommandLine)
}

/// Adds the options of `level` to those of the levels above it.
fn add(common: &mut CommonArgs, level_options: CommonArgs, level: &ArgMatches) {
    let CommonArgs {
        plan,
        target,
        set,
        repository,
        allow_hooks,
        allow_writes,
        json,
        plain,
        quiet,
        verbose,
        ..
    } = level_options;
    common.set.extend(set);
    common.target.extend(target);
    common.json |= json;
    common.allow_hooks |= allow_hooks;
    common.allow_writes |= allow_writes;
    common.plain |= plain;
    common.quiet |= quiet;
    common.verbose |= verbose;
    common.events = level_options.events.or(common.events.take());
    if is_given(level, "plan") {
        common.plan = plan;
    }
    if is_given(level, "repository") {
        common.repository = repository;
    }
    common.metrics = level_options.metrics.or(common.metrics.take());
    common.annotate = level_options.annotate.or(common.annotate.take());
    #[cfg(feature = "otlp")]
    {
        common.otlp = level_options.otlp.or(common.otlp.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(args: &str) -> Result<CommonArgs, String> {
        let mut command = at_every_level(Cli::command());
        let matches = command
            .try_get_matches_from_mut(args.split(' '))
            .and_then(|matches| read(&mut command, &matches))
            .map_err(|error| error.to_string());
        matches.map(|cli| cli.common)
    }

    #[test]
    fn command_line_definition_passes_clap_checks() {
        groups::grouped(at_every_level(Cli::command())).debug_assert();
        Cli::command().debug_assert();
    }

    #[test]
    fn repeatable_options_are_kept_from_all_levels_in_order() {
        let read = common(
            "dyno --set a=1 --target sqlite:a prove --set b=2 --json window --set c=3 --set d=4 --target sqlite:b",
        )
        .unwrap();
        assert_eq!(read.set, ["a=1", "b=2", "c=3", "d=4"]);
        assert_eq!(read.target, ["sqlite:a", "sqlite:b"]);
        assert!(read.json);
        assert!(!read.quiet);
        let read = common("dyno --metrics :1 run --annotate http://g --plain").unwrap();
        assert_eq!((read.metrics.as_deref(), read.annotate.as_deref()), (Some(":1"), Some("http://g")));
        assert!(read.plain);
    }

    #[test]
    fn single_value_option_is_accepted_once_at_any_level() {
        assert_eq!(common("dyno --plan a.toml run").unwrap().plan.to_str(), Some("a.toml"));
        assert_eq!(common("dyno run --plan b.toml").unwrap().plan.to_str(), Some("b.toml"));
        for args in [
            "dyno --plan a run --plan b",
            "dyno --repository a list --repository a",
            "dyno --quiet run --verbose",
        ] {
            let error_text = common(args).unwrap_err();
            assert!(error_text.contains("cannot be used"), "{args}: {error_text}");
        }
    }
}
