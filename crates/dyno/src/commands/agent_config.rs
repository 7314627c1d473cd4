//! The configuration of an agent: which databases runs may reach from its host.

use std::path::{Path, PathBuf};

use dyno_fleet::AllowedTarget;
use dyno_plan::TargetUrl;
use serde::Deserialize;

use crate::engines::ENGINES;
use crate::exit::usage;

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

/// Reads the targets from the file at `path`.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<AllowedTarget>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("{} (--config) cannot be read: {error}", path.display()), ""))?;
    targets(&text).map_err(|problem| {
        usage(
            format!("{} (--config): {problem}", path.display()),
            "[[targets]] with url = \"postgres://dyno@db1/bench\", writes = true, password_env = \"NAME\" or password_file = \"FILE\"",
        )
    })
}

fn targets(text: &str) -> Result<Vec<AllowedTarget>, String> {
    // The parser's message shows the line, which could contain a password.
    let config: AgentConfig = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        format!("line {line}: {}", error.message())
    })?;
    let allowed = |(number, target): (usize, ConfiguredTarget)| {
        let url = TargetUrl::read(&target.url, ENGINES.specs)
            .map_err(|_| format!("target {number}: url is not that of a database, or has a password"))?;
        if target.password_env.is_some() && target.password_file.is_some() {
            return Err(format!("target {number}: password_env and password_file exclude each other"));
        }
        let ConfiguredTarget { writes, password_env, password_file, .. } = target;
        Ok(AllowedTarget { url, writes, password_env, password_file })
    };
    (1..).zip(config.targets).map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_targets_are_read_and_errors_hide_secrets() {
        let read =
            targets("[[targets]]\nurl = \"postgres://dyno@*/bench\"\nwrites = true\npassword_env = \"P\"\n")
                .unwrap();
        assert!(read[0].writes);
        assert_eq!(read[0].url.host.as_deref(), Some("*"));
        for text in [
            "targets = [{ url = \"postgres://me:geheim@h/d\" }]",
            "[[targets]]\nurl = \"postgres://h/d\"\npassword = \"geheim\"",
            "[[targets]]\nurl = \"postgres://h/d\"\npassword_env = \"geheim\"\npassword_file = \"f\"",
            "geheim",
        ] {
            let problem = targets(text).unwrap_err();
            assert!(!problem.contains("geheim"), "{problem}");
        }
    }
}
