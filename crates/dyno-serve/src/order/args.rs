//! Creates the command line of a job request, and the arguments of the job's steps.

use dyno_plan::EngineSpec;

use super::JobRequest;
use super::command::JobCommand;
use crate::listed_host::ListedHost;
use crate::setup::Setup;
use crate::targets::NamedTarget;

impl JobRequest {
    /// Returns the arguments of each step's process. Values follow `=`, so none of them can be taken for an
    /// option.
    pub(super) fn steps(&self, job: &JobCommand, setup: &Setup, target: &NamedTarget) -> Vec<Vec<String>> {
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
        if self.loads_first(job) {
            steps.push(with(vec!["load".into()]));
        }
        let mut args: Vec<String> = job.words().into_iter().map(str::to_owned).collect();
        args.extend(self.options(job, target));
        steps.push(with(args));
        steps
    }

    /// Whether data is loaded in a separate step; sweeps and suites load what they need themselves.
    fn loads_first(&self, job: &JobCommand) -> bool {
        self.load && job.needs_load()
    }

    /// Returns the options of the command, with the variant and tags of its records.
    pub(super) fn options(&self, job: &JobCommand, target: &NamedTarget) -> Vec<String> {
        let mut args = job.options();
        if job.stores_records() {
            let variant = Some(&self.variant).filter(|name| !name.is_empty()).or(target.variant.as_ref());
            args.extend(variant.map(|name| format!("--variant={name}")));
            args.extend(self.tags.iter().map(|tag| format!("--tag={tag}")));
        }
        args
    }

    /// Returns the equivalent command line for a terminal.
    pub(super) fn command(
        &self,
        job: &JobCommand,
        target: &NamedTarget,
        engine: &EngineSpec,
        setup: &Setup,
    ) -> String {
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
        if self.loads_first(job) {
            lines.push(format!("dyno load {common}"));
        }
        let extra_args: Vec<String> =
            self.options(job, target).iter().map(|arg| format!(" {}", quoted(arg))).collect();
        lines.push(format!("dyno {}{} {common}", job.words().join(" "), extra_args.concat()));
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
