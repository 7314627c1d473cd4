//! Completes a command with the options under which the runs before it were made.

use super::pairs::quoted;

/// Commands that read a plan.
const PLANNED: [&str; 7] = ["run", "sweep", "search", "soak", "ab", "suite", "watch"];

/// `command` with the `options` that it needs and does not have: plan, target, settings and repository of the
/// runs that it follows. They are words of a command line, as records keep them. A command that has them
/// already is unchanged.
pub fn completed(command: &str, options: &[String]) -> String {
    let name = command.split(' ').nth(1).unwrap_or_default();
    let has = |option: &str| command.split(' ').any(|word| word == option);
    let mut all = command.to_owned();
    for pair in options.chunks_exact(2) {
        let (option, value) = (pair[0].as_str(), pair[1].as_str());
        let is_needed = match option {
            "--set" => {
                let key = value.split('=').next().unwrap_or(value);
                PLANNED.contains(&name) && is_used(key, name) && !sets(command, key)
            }
            "--plan" => PLANNED.contains(&name) && !has(option),
            "--target" => (PLANNED.contains(&name) || name == "calibrate") && !has(option),
            "--repository" => !has(option),
            // A record may come from elsewhere.
            _ => false,
        };
        if is_needed {
            all.push_str(&format!(" {option} {}", quoted(value)));
        }
    }
    all
}

/// Whether the command `name` uses this key of a plan. Commands of a plan are never repeated: to give one on the
/// command line is to consent to it.
fn is_used(key: &str, name: &str) -> bool {
    match key.split_once('.') {
        Some(("sweep", _)) => name == "sweep",
        Some(("hooks", _)) => false,
        _ => true,
    }
}

/// Whether the command itself sets the key, by `--set` or by an option of its own.
fn sets(command: &str, key: &str) -> bool {
    let words = || command.split(' ').zip(command.split(' ').skip(1));
    let of_set = |(option, value): (&str, &str)| {
        let value = value.trim_start_matches('\'');
        ["--set", "--a", "--b"].contains(&option) && value.split('=').next() == Some(key)
    };
    let shorthand = match key {
        "run.time" => "--time",
        "observe.interval" => "--interval",
        _ => return words().any(of_set),
    };
    words().any(of_set) || words().any(|(option, _)| option == shorthand)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn commands_repeat_plan_target_settings_and_repository() {
        let options = words(
            "--plan pg.toml --target postgres://dyno@db1/bench --set data.scale=1G --set run.time=5s \
             --set sweep.sessions=1,2 --repository runs.db",
        );
        for (command, more) in [
            (
                "dyno sweep --set sweep.sessions=8,16",
                "--plan pg.toml --target postgres://dyno@db1/bench --set data.scale=1G --set run.time=5s --repository runs.db",
            ),
            (
                "dyno run --set run.time=60s",
                "--plan pg.toml --target postgres://dyno@db1/bench --set data.scale=1G --repository runs.db",
            ),
            (
                "dyno soak --time 600s",
                "--plan pg.toml --target postgres://dyno@db1/bench --set data.scale=1G --repository runs.db",
            ),
            (
                "dyno watch --time 2h --interval 1s",
                "--plan pg.toml --target postgres://dyno@db1/bench --set data.scale=1G --repository runs.db",
            ),
            ("dyno calibrate", "--target postgres://dyno@db1/bench --repository runs.db"),
            ("dyno show last", "--repository runs.db"),
        ] {
            let complete = completed(command, &options);
            assert_eq!(complete, format!("{command} {more}"));
            assert_eq!(completed(&complete, &options), complete, "nothing is added twice");
        }
        let hostile = words("--set hooks.pre=reboot ;reboot now");
        assert_eq!(completed("dyno run", &hostile), "dyno run");
        let spaced = ["--set".to_owned(), "data.scale=500 blocks".to_owned()];
        let complete = completed("dyno run --set run.time=60s", &spaced);
        assert_eq!(complete, "dyno run --set run.time=60s --set 'data.scale=500 blocks'");
        assert_eq!(completed(&complete, &spaced), complete);
        assert_eq!(completed("dyno calibrate", &[]), "dyno calibrate");
    }
}
