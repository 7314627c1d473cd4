//! The command line that an order is, and those of the steps of its job.

use dyno_plan::EngineSpec;

use super::Order;
use crate::jobs::Kind;
use crate::listed_host::ListedHost;
use crate::setup::Setup;
use crate::targets::NamedTarget;

impl Order {
    /// What the child of each step is given. Values stand behind `=`, so that none of them can be an option.
    pub(super) fn steps(&self, setup: &Setup, target: &NamedTarget) -> Vec<Vec<String>> {
        let mut common =
            vec!["--plan=PLAN".to_owned(), format!("--repository={}", setup.repository.display())];
        if setup.allow_commands {
            common.push("--allow-hooks".to_owned());
        }
        let mut steps = Vec::new();
        if !self.workload.is_empty() {
            common.push(format!("--set=workload.folder=@{}", self.workload));
        }
        let with = |mut args: Vec<String>| {
            args.extend(common.iter().cloned());
            args
        };
        if self.loads_first() {
            steps.push(with(vec!["load".into()]));
        }
        let mut args = self.words();
        args.extend(self.own_args(target));
        steps.push(with(args));
        steps
    }

    /// The command's name, and that of the part of it that is meant.
    pub(super) fn words(&self) -> Vec<String> {
        let of_proof = Some(self.proof.clone()).filter(|_| self.kind == Kind::Prove);
        std::iter::once(self.kind.name().to_owned()).chain(of_proof).collect()
    }

    /// Whether data is loaded by a step of its own: a sweep and a suite load what they need themselves.
    pub(super) fn loads_first(&self) -> bool {
        let is_proof_with_data = self.kind == Kind::Prove && self.proof != "window";
        self.load
            && (is_proof_with_data || matches!(self.kind, Kind::Run | Kind::Search | Kind::Soak | Kind::Ab))
    }

    /// Options of the kind.
    pub(super) fn own_args(&self, target: &NamedTarget) -> Vec<String> {
        let mut args = Vec::new();
        match self.kind {
            Kind::Search => {
                args.extend(self.limits.iter().map(|limit| format!("--limit={limit}")));
                args.push(format!("--over={}", self.over));
                args.extend(Some(&self.max).filter(|max| !max.is_empty()).map(|max| format!("--max={max}")));
            }
            Kind::Soak => args.push(format!("--time={}", self.time)),
            Kind::Ab => args.extend([
                format!("--a={}", self.a),
                format!("--b={}", self.b),
                format!("--pairs={}", self.pairs),
            ]),
            Kind::Suite => {
                args.push(if self.quick { "--quick" } else { "--full" }.to_owned());
                args.extend(self.groups.iter().map(|group| format!("--group={group}")));
                args.extend(self.tests.iter().map(|test| format!("--test={test}")));
            }
            Kind::Watch => {
                args.push(format!("--for={}", self.watch_for));
                let interval = self.set.get("observe.interval");
                args.extend(interval.map(|interval| format!("--interval={interval}")));
            }
            Kind::Calibrate => {
                args.extend(self.quick.then(|| "--quick".to_owned()));
                args.extend(self.parts.iter().map(|part| format!("--only={part}")));
            }
            Kind::Prove if self.proof == "durability" => {
                args.push(format!("--kill-command={}", self.kill_command));
                let restart = Some(&self.restart_command).filter(|command| !command.is_empty());
                args.extend(restart.map(|command| format!("--restart-command={command}")));
            }
            Kind::Run | Kind::Sweep | Kind::Load | Kind::Check | Kind::Prove | Kind::Study => {}
        }
        if !matches!(self.kind, Kind::Load | Kind::Check | Kind::Prove) {
            let variant = Some(&self.variant).filter(|name| !name.is_empty()).or(target.variant.as_ref());
            args.extend(variant.map(|name| format!("--variant={name}")));
            args.extend(self.tags.iter().map(|tag| format!("--tag={tag}")));
        }
        args
    }

    /// The command line that does the same at a terminal.
    pub(super) fn command(&self, target: &NamedTarget, engine: &EngineSpec, setup: &Setup) -> String {
        let mut lines = Vec::new();
        let mut common: Vec<String> = Vec::new();
        if self.ready.is_empty() {
            common.push(format!("--target {}", quoted(&target.url)));
        } else {
            lines.push(format!(
                "dyno init --ready {} --engine {} --target {} --plan {}.toml",
                self.ready,
                engine.name,
                quoted(&target.url),
                self.ready
            ));
            common.push(format!("--plan {}.toml", self.ready));
        }
        if !self.workload.is_empty() {
            common.push(format!("--set workload.folder=@{}", self.workload));
        }
        common.extend(self.values().iter().map(|set| format!("--set {}", quoted(set))));
        let hosts: Vec<String> = self.listed_hosts(setup).map(ListedHost::shown).collect();
        if !hosts.is_empty() {
            common.push(format!("--set {}", quoted(&format!("observe.hosts={}", hosts.join(", ")))));
        }
        if dyno_record::repository::default_path().as_deref() != Some(setup.repository.as_path()) {
            common.push(format!("--repository {}", quoted(&setup.repository.display().to_string())));
        }
        let common = common.join(" ");
        if self.loads_first() {
            lines.push(format!("dyno load {common}"));
        }
        let own: Vec<String> = self.own_args(target).iter().map(|arg| format!(" {}", quoted(arg))).collect();
        lines.push(format!("dyno {}{} {common}", self.words().join(" "), own.concat()));
        lines.join("\n")
    }
}

/// A word of a shell's command line.
pub(super) fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
