//! The configuration of an agent: which databases runs may reach from its host.

use std::path::{Path, PathBuf};

use dyno_fleet::AllowedTarget;
use dyno_plan::{LocatedToml, PlanErrors, PlanFile, TargetUrl};
use serde::Deserialize;

use crate::engines::ENGINES;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentConfig {
    targets: Vec<ConfiguredTarget>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfiguredTarget {
    url: String,
    #[serde(default)]
    writes: bool,
    password_env: Option<String>,
    password_file: Option<PathBuf>,
}

/// How the file is written.
const HINT: &str = "write [[targets]] with url = \"postgres://dyno@db1/bench\", writes = true, password_env = \"NAME\" or \
    password_file = \"FILE\"";

/// Reads the targets from the file at `path`.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<AllowedTarget>> {
    let file = PlanFile::open_input(path, "file of --config", HINT)?;
    Ok(targets(&file.name, &file.text)?)
}

fn targets(name: &str, text: &str) -> Result<Vec<AllowedTarget>, PlanErrors> {
    let toml = LocatedToml::parse(name, text, HINT)?;
    let config: AgentConfig = toml.read()?;
    let allowed = |(index, target): (usize, ConfiguredTarget)| {
        let index = index.to_string();
        let url = TargetUrl::read(&target.url, ENGINES.specs).map_err(|_| {
            let problem = "not a database URL, or it contains a password";
            toml.error(
                &["targets", &index, "url"],
                problem,
                "write the password in password_env or password_file",
            )
        })?;
        if target.password_env.is_some() && target.password_file.is_some() {
            let problem = "password_env and password_file exclude each other";
            return Err(toml.error(&["targets", &index, "password_env"], problem, "keep one of them").into());
        }
        let ConfiguredTarget { writes, password_env, password_file, .. } = target;
        Ok(AllowedTarget { url, writes, password_env, password_file })
    };
    config.targets.into_iter().enumerate().map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_targets_are_read_and_errors_hide_secrets() {
        let read = |text: &str| targets("agent.toml", text);
        let allowed =
            read("[[targets]]\nurl = \"postgres://dyno@*/bench\"\nwrites = true\npassword_env = \"P\"\n")
                .unwrap();
        assert!(allowed[0].writes);
        assert_eq!(allowed[0].url.host.as_deref(), Some("*"));
        for (text, place) in [
            ("targets = [{ url = \"postgres://me:geheim@h/d\" }]", "1:20: targets.url: not a database URL"),
            (
                "[[targets]]\nurl = \"postgres://h/d\"\npassword = \"geheim\"",
                "3:1: targets.password: unknown key; ",
            ),
            (
                "[[targets]]\nurl = \"postgres://h/d\"\npassword_env = \"geheim\"\npassword_file = \"f\"",
                "3:16: targets.password_env: password_env and password_file exclude",
            ),
            (
                "[[targets]]\nurl = \"postgres://h/d\"\nwrites = \"geheim\"",
                "3:10: targets.writes: not true or false; write [[targets]]",
            ),
            ("[[target]]\nurl = \"postgres://h/d\"", "1:3: target: unknown key; did you mean targets?"),
            ("geheim", "1:7: not valid TOML: "),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("agent.toml:{place}")), "{error}");
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
