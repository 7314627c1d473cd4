//! The groups of commands in `dyno --help`, and the global options that each command's help shows.

use clap::Command;

/// The commands that belong together.
struct CommandGroup {
    title: &'static str,
    /// What the commands do with the plan, the database and the repository.
    uses: Uses,
    commands: &'static [&'static str],
}

/// The global options that have an effect on a command; its help hides the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Uses {
    /// It loads a database or measures it, as the plan says.
    Measurement,
    /// It reads the plan and the database, and measures nothing.
    Plan,
    /// It reads or writes the repository.
    Repository,
    /// It writes files and needs nothing else.
    Nothing,
}

/// Every command, in the order of the help. Groups with one title are shown as one.
const GROUPS: [CommandGroup; 12] = [
    CommandGroup { title: "Begin", uses: Uses::Nothing, commands: &["demo"] },
    CommandGroup { title: "Begin", uses: Uses::Repository, commands: &["doctor"] },
    CommandGroup { title: "Prepare", uses: Uses::Plan, commands: &["init", "check", "workload"] },
    CommandGroup { title: "Prepare", uses: Uses::Measurement, commands: &["load", "drop"] },
    CommandGroup {
        title: "Measure",
        uses: Uses::Measurement,
        commands: &["run", "sweep", "search", "soak", "ab", "suite", "study", "calibrate"],
    },
    CommandGroup { title: "Observe", uses: Uses::Measurement, commands: &["watch"] },
    CommandGroup {
        title: "Results",
        uses: Uses::Repository,
        commands: &["list", "show", "report", "compare", "trend", "export"],
    },
    CommandGroup {
        title: "Platforms",
        uses: Uses::Repository,
        commands: &["health", "scorecard", "price", "capacity"],
    },
    CommandGroup { title: "Files of other tools", uses: Uses::Plan, commands: &["import", "awr"] },
    CommandGroup { title: "Service", uses: Uses::Plan, commands: &["serve", "agent", "collect"] },
    CommandGroup { title: "Verify", uses: Uses::Measurement, commands: &["prove"] },
    CommandGroup { title: "Program", uses: Uses::Nothing, commands: &["completions", "man", "help"] },
];

/// Global options by the least use that gives them an effect.
const PLAN_OPTIONS: [&str; 3] = ["plan", "target", "set"];
const MEASUREMENT_OPTIONS: [&str; 9] = [
    "allow_hooks",
    "allow_writes",
    "metrics",
    "metrics_token_file",
    "metrics_open",
    "annotate",
    "otlp",
    "events",
    "plain",
];

/// Whether the help of this command shows a global option.
pub(super) fn shows(command: &str, option: &str) -> bool {
    let uses = GROUPS.iter().find(|group| group.commands.contains(&command)).map(|group| group.uses);
    match uses {
        Some(Uses::Measurement) | None => true,
        Some(Uses::Plan) => !MEASUREMENT_OPTIONS.contains(&option),
        Some(Uses::Repository) => !MEASUREMENT_OPTIONS.contains(&option) && !PLAN_OPTIONS.contains(&option),
        Some(Uses::Nothing) => option == "quiet" || option == "verbose",
    }
}

/// Shows the commands of the program in groups.
pub(super) fn grouped(mut command: Command) -> Command {
    command.build();
    let styles = command.get_styles().clone();
    let (heading, literal) = (*styles.get_header(), *styles.get_literal());
    let widest =
        GROUPS.iter().flat_map(|group| group.commands).map(|name| name.len()).max().unwrap_or_default();
    let mut commands = String::new();
    let mut title = "";
    for group in &GROUPS {
        if group.title != title {
            title = group.title;
            commands.push_str(&format!("\n{heading}{title}:{heading:#}\n"));
        }
        // A program built without a feature lacks its commands.
        for sub in group.commands.iter().filter_map(|name| command.find_subcommand(name)) {
            let (name, about) =
                (sub.get_name(), sub.get_about().map(ToString::to_string).unwrap_or_default());
            commands.push_str(&format!("  {literal}{name:widest$}{literal:#}  {about}\n"));
        }
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{commands}\n{{all-args}}{{after-help}}"
    );
    command
        .mut_subcommands(|sub| sub.hide(true))
        .override_usage("dyno [OPTIONS] <COMMAND>")
        .help_template(template)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = Cli::command();
        command.build();
        let mut counts: BTreeMap<&str, usize> = command
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set())
            .map(|sub| (sub.get_name(), 0))
            .collect();
        for name in GROUPS.iter().flat_map(|group| group.commands) {
            *counts.entry(name).or_default() += 1;
        }
        let wrong: Vec<_> = counts.iter().filter(|(_, count)| **count != 1).collect();
        // A program built without a feature lacks its commands, and the table still names them.
        assert!(wrong.is_empty(), "in no group or in several: {wrong:?}");
        if cfg!(feature = "serve") && cfg!(feature = "fleet") {
            assert_eq!(counts.len(), command.get_subcommands().filter(|sub| !sub.is_hide_set()).count());
        }
    }

    #[test]
    fn every_command_has_examples_in_its_help() {
        let command = Cli::command();
        let has_examples = |sub: &&Command| {
            sub.get_after_long_help().is_some_and(|help| help.to_string().contains("Examples:\n"))
        };
        let without: Vec<&str> = command
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set() && !has_examples(sub))
            .map(Command::get_name)
            .collect();
        assert!(without.is_empty(), "no examples: {without:?}");
    }

    #[test]
    fn groups_name_existing_options() {
        let command = Cli::command();
        let is_known = |option: &&str| command.get_arguments().any(|arg| arg.get_id().as_str() == *option);
        let optional = if cfg!(feature = "otlp") { "" } else { "otlp" };
        for option in PLAN_OPTIONS.iter().chain(&MEASUREMENT_OPTIONS).filter(|option| **option != optional) {
            assert!(is_known(option), "{option}");
        }
    }

    #[test]
    fn help_shows_global_options_only_where_they_have_an_effect() {
        assert!(shows("run", "allow_hooks"));
        assert!(shows("run", "plan"));
        assert!(shows("check", "plan"));
        assert!(!shows("check", "allow_hooks"));
        assert!(shows("list", "repository"));
        assert!(!shows("list", "set"));
        assert!(shows("man", "quiet"));
        assert!(!shows("man", "json"));
    }
}
