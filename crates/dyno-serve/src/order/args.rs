//! Creates the command line of a job request, and the arguments of the job's steps.

use dyno_plan::EngineSpec;

use super::JobRequest;
use crate::jobs::JobKind;
use crate::listed_host::ListedHost;
use crate::setup::Setup;
use crate::targets::NamedTarget;

impl JobRequest {
    /// Returns the arguments of each step's process. Values follow `=`, so none of them can be taken for an
    /// option.
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

    /// Returns the command's name, and its subcommand if it has one.
    pub(super) fn words(&self) -> Vec<String> {
        let of_proof = Some(self.proof.clone()).filter(|_| self.kind == JobKind::Prove);
        std::iter::once(self.kind.name().to_owned()).chain(of_proof).collect()
    }

    /// Whether data is loaded in a separate step; sweeps and suites load what they need themselves.
    pub(super) fn loads_first(&self) -> bool {
        let is_proof_with_data = self.kind == JobKind::Prove && self.proof != "window";
        self.load
            && (is_proof_with_data
                || matches!(self.kind, JobKind::Run | JobKind::Search | JobKind::Soak | JobKind::Ab))
    }

    /// Returns the options that belong to this kind of job.
    pub(super) fn own_args(&self, target: &NamedTarget) -> Vec<String> {
        let mut args = Vec::new();
        match self.kind {
            JobKind::Search => {
                args.extend(self.limits.iter().map(|limit| format!("--limit={limit}")));
                args.push(format!("--over={}", self.over));
                args.extend(Some(&self.max).filter(|max| !max.is_empty()).map(|max| format!("--max={max}")));
            }
            JobKind::Soak => args.push(format!("--time={}", self.time)),
            JobKind::Ab => args.extend([
                format!("--a={}", self.a),
                format!("--b={}", self.b),
                format!("--pairs={}", self.pairs),
            ]),
            JobKind::Suite => {
                args.push(if self.quick { "--quick" } else { "--full" }.to_owned());
                args.extend(self.groups.iter().map(|group| format!("--group={group}")));
                args.extend(self.tests.iter().map(|test| format!("--test={test}")));
            }
            JobKind::Watch => {
                args.push(format!("--for={}", self.watch_for));
                let interval = self.set.get("observe.interval");
                args.extend(interval.map(|interval| format!("--interval={interval}")));
            }
            JobKind::Calibrate => {
                args.extend(self.quick.then(|| "--quick".to_owned()));
                args.extend(self.parts.iter().map(|part| format!("--only={part}")));
            }
            JobKind::Prove if self.proof == "durability" => {
                args.push(format!("--kill-command={}", self.kill_command));
                let restart = Some(&self.restart_command).filter(|command| !command.is_empty());
                args.extend(restart.map(|command| format!("--restart-command={command}")));
            }
            JobKind::Run
            | JobKind::Sweep
            | JobKind::Load
            | JobKind::Check
            | JobKind::Prove
            | JobKind::Study => {}
        }
        if !matches!(self.kind, JobKind::Load | JobKind::Check | JobKind::Prove) {
            let variant = Some(&self.variant).filter(|name| !name.is_empty()).or(target.variant.as_ref());
            args.extend(variant.map(|name| format!("--variant={name}")));
            args.extend(self.tags.iter().map(|tag| format!("--tag={tag}")));
        }
        args
    }

    /// Returns the equivalent command line for a terminal.
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
        let extra_args: Vec<String> =
            self.own_args(target).iter().map(|arg| format!(" {}", quoted(arg))).collect();
        lines.push(format!("dyno {}{} {common}", self.words().join(" "), extra_args.concat()));
        lines.join("\n")
    }
}

/// Quotes a word for a shell's command line.
pub(super) fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
