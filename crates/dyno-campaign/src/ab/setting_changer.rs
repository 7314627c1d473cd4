//! Gives the server the settings of a side, verifies them, and restores them after the test.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::{Cancel, ServerSetting, SettingActivation, SettingControl, Target};
use dyno_plan::Plan;

use super::server_setting::ServerSettingSides;
use super::setting_journal::{ChangedSettings, SettingJournal};
use crate::campaign_context::CampaignContext;
use crate::consent::{consent_file, contains_mark, store_mark};
use crate::error::Error;
use crate::event::{CampaignEvent, StudyEvent, Warning};
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;
use crate::setting_value::is_same_setting;
use crate::shell::{Shell, ShellExit};

/// How long a changed setting may take to come into force, or a restarted server to answer.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(60);
/// How often that is checked: a server announces neither.
const LOOK: Duration = Duration::from_millis(50);

/// The settings of an A/B test, and what the server had before.
pub(super) struct SettingChanger<'a> {
    ctx: &'a CampaignContext<'a>,
    target: Arc<dyn Target>,
    plan: Plan,
    settings: Vec<ServerSettingSides>,
    before: Vec<ServerSetting>,
    restart: Option<String>,
    journal: SettingJournal,
    /// The side whose settings are in force.
    in_force: Option<usize>,
}

impl<'a> SettingChanger<'a> {
    /// Reads the settings, and asks for consent to the changes.
    ///
    /// # Errors
    /// A setting cannot be changed on this target, or a restart is needed and no command does it; or the user
    /// does not consent. Then nothing was changed.
    pub(super) fn open(
        ready: &PreparedCampaign<'a>,
        mut settings: Vec<ServerSettingSides>,
        restart: Option<String>,
    ) -> Result<Self, Error> {
        let (target, plan) = (Arc::clone(ready.target()), ready.plan.clone());
        if plan.target.is_several() {
            return Err(Error::usage(
                "--setting changes one server, and the plan has several targets",
                "name one target with --target",
            ));
        }
        let control = target.setting_control()?;
        let mut before = Vec::new();
        for setting in &mut settings {
            let read = control.read(&setting.name)?;
            if ready.workloads.is_empty() && control.set_by_sessions().contains(&read.name.as_str()) {
                return Err(Error::usage(
                    format!("sessions of the block workload set {} themselves", read.name),
                    "use a workload of SQL statements, such as --set workload.folder=@tpcb",
                ));
            }
            if before.iter().any(|other: &ServerSetting| other.name == read.name) {
                return Err(Error::usage(format!("--setting {} is given twice", read.name), "name it once"));
            }
            setting.name.clone_from(&read.name);
            setting.values.iter_mut().filter(|value| value.is_empty()).for_each(|value| {
                value.clone_from(&read.value);
            });
            if is_same_setting(&setting.values[0], &setting.values[1]) {
                return Err(Error::usage(
                    format!("--setting {}: both sides have the value {:?}", read.name, setting.values[0]),
                    "give another value",
                ));
            }
            before.push(read);
        }
        let needs_restart = before.iter().find(|before| before.activation == SettingActivation::Restart);
        let restart = restart.filter(|_| needs_restart.is_some());
        if let (Some(setting), None) = (needs_restart, &restart) {
            return Err(Error::usage(
                format!("{} takes effect only when the server restarts", setting.name),
                "give the command that restarts it and waits until it runs: \
                 --restart-command 'sudo systemctl restart NAME'; or use a study (docs/guides/studies.md)",
            ));
        }
        require_consent(ready.ctx, control, &settings, &before, restart.as_deref(), &target.url())?;
        let journal = SettingJournal::open(&target.url())?;
        Ok(Self { ctx: ready.ctx, target, plan, settings, before, restart, journal, in_force: None })
    }

    /// The settings with the value of each side.
    pub(super) fn settings(&self) -> &[ServerSettingSides] {
        &self.settings
    }

    /// Puts the settings of `side` in force, and reads them back. Where a restart is needed, the server
    /// restarts before every run, so that each begins with empty caches.
    ///
    /// # Errors
    /// A setting of the side is not in force: a run would measure something else.
    pub(super) fn apply(&mut self, ready: &mut PreparedCampaign<'_>, side: usize) -> Result<(), Error> {
        if self.in_force != Some(side) || self.restart.is_some() {
            let changed = ChangedSettings { before: self.before.clone(), restart: self.restart.clone() };
            if self.journal.open.is_none() {
                self.journal.changed(changed)?;
            }
            self.in_force = None;
            let control = self.target.setting_control()?;
            for (setting, before) in self.settings.iter().zip(&self.before) {
                execute(self.ctx, &self.target, "apply", &control.change(before, &setting.values[side]))?;
            }
            if let Some(command) = &self.restart {
                // The lock ends with its connection.
                ready.locks.clear();
                run_restart(self.ctx, &self.plan, &self.target, command, &self.ctx.cancel)?;
                ready.reconnect(DataLoadPolicy::Never)?;
            }
        }
        let wanted =
            self.settings.iter().map(|setting| (setting.name.as_str(), setting.values[side].as_str()));
        let read = wait_until_in_force(&self.target, &wanted.collect::<Vec<_>>(), &self.ctx.cancel)?;
        self.in_force = Some(side);
        ready.check_again()?;
        for reached in &mut ready.targets.all {
            for setting in &read {
                reached.identity.settings.insert(setting.name.clone(), setting.value.clone());
            }
        }
        Ok(())
    }

    /// Restores the settings, if any was changed. A cancellation does not stop this.
    pub(super) fn restore(&mut self) -> Result<(), Error> {
        restore(self.ctx, &self.target, &self.plan, &mut self.journal, None)
    }
}

/// Restores what an earlier test on this target did not restore; returns whether there was anything.
/// `restart` replaces the command of that test.
pub(super) fn restore_left(
    ctx: &CampaignContext<'_>,
    target: &Arc<dyn Target>,
    plan: &Plan,
    restart: Option<&str>,
) -> Result<bool, Error> {
    let mut journal = SettingJournal::open(&target.url())?;
    let was_open = journal.open.is_some();
    restore(ctx, target, plan, &mut journal, restart)?;
    Ok(was_open)
}

fn restore(
    ctx: &CampaignContext<'_>,
    target: &Arc<dyn Target>,
    plan: &Plan,
    journal: &mut SettingJournal,
    restart: Option<&str>,
) -> Result<(), Error> {
    let Some(changed) = journal.open.clone() else { return Ok(()) };
    let restored = || {
        let control = target.setting_control()?;
        for before in changed.before.iter().rev() {
            execute(ctx, target, "revert", &control.undo(before))?;
        }
        if let Some(command) = restart.or(changed.restart.as_deref()) {
            run_restart(ctx, plan, target, command, &Cancel::default())?;
        }
        let wanted = changed.before.iter().map(|before| (before.name.as_str(), before.value.as_str()));
        wait_until_in_force(target, &wanted.collect::<Vec<_>>(), &Cancel::default())
    };
    restored().map_err(|error: Error| {
        Error::because(
            "the settings of the server could not be restored; fix the cause, then `dyno ab --only-restore` \
             tries again",
            error.words(),
        )
    })?;
    journal.restored()
}

/// Executes statements that change settings.
fn execute(
    ctx: &CampaignContext<'_>,
    target: &Arc<dyn Target>,
    when: &'static str,
    statements: &[String],
) -> Result<(), Error> {
    for statement in statements {
        ctx.emit(CampaignEvent::Study(StudyEvent::Command(when, statement.clone())));
        target.script(&[statement.as_str()], &mut |_| Ok(()))?;
    }
    Ok(())
}

/// Restarts the server by the user's command, and waits until it answers.
fn run_restart(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    target: &Arc<dyn Target>,
    command: &str,
    cancel: &Cancel,
) -> Result<(), Error> {
    ctx.emit(CampaignEvent::Study(StudyEvent::Command("restart", command.to_owned())));
    let shell = Shell {
        arguments: vec!["-c".to_owned(), command.to_owned()],
        environment: Vec::new(),
        timeout: plan.hooks.timeout.0,
    };
    let of_engines = ctx.engines.specs.0.iter().flat_map(|engine| engine.passwords.variables);
    let passwords = of_engines.copied().chain(plan.target.password_env.as_deref());
    let failed = |how: String| Error::because(format!("restart: {command}"), how);
    let outcome =
        shell.run(passwords, cancel).map_err(|error| failed(format!("it could not be started ({error})")))?;
    match outcome.exit {
        ShellExit::By(status) if status.success() => {}
        ShellExit::By(status) => return Err(failed(format!("it ended with {status}{}", outcome.said))),
        ShellExit::Late => {
            return Err(failed(format!("it did not end within {} (hooks.timeout)", plan.hooks.timeout)));
        }
        ShellExit::Stopped => return Err(failed("it was stopped".to_owned())),
        ShellExit::Lost(error) => return Err(failed(format!("it could not be waited for ({error})"))),
    }
    let until = Instant::now() + IN_FORCE_WITHIN;
    loop {
        match target.life() {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() >= until || cancel.is_cancelled() => return Err(error.into()),
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Waits until new connections have these settings, and returns them as read back.
fn wait_until_in_force(
    target: &Arc<dyn Target>,
    wanted: &[(&str, &str)],
    cancel: &Cancel,
) -> Result<Vec<ServerSetting>, Error> {
    let control = target.setting_control()?;
    let until = Instant::now() + IN_FORCE_WITHIN;
    loop {
        let read = wanted.iter().map(|(name, _)| control.read(name)).collect::<Result<Vec<_>, _>>()?;
        let differing =
            read.iter().zip(wanted).find(|(read, (_, wanted))| !is_same_setting(&read.value, wanted));
        let Some((read, (_, wanted))) = differing else { return Ok(read) };
        if Instant::now() >= until || cancel.is_cancelled() {
            return Err(Error::because(
                format!("the server's setting {} is {:?}, not {wanted:?}", read.name, read.value),
                "it is not in force; write the value as the server shows it",
            ));
        }
        std::thread::sleep(LOOK);
    }
}

/// Asks for consent to the statements and the command. Consent that was given once for the same target stays
/// valid.
fn require_consent(
    ctx: &CampaignContext<'_>,
    control: &dyn SettingControl,
    settings: &[ServerSettingSides],
    before: &[ServerSetting],
    restart: Option<&str>,
    url: &str,
) -> Result<(), Error> {
    let sides = [("side a", 0), ("side b", 1)];
    let changes = sides.into_iter().flat_map(|(when, side)| {
        settings.iter().zip(before).flat_map(move |(setting, before)| {
            let statements = control.change(before, &setting.values[side]);
            statements.into_iter().map(move |statement| (when, statement))
        })
    });
    let undo = before.iter().rev().flat_map(|before| control.undo(before));
    let undo = undo.map(|statement| ("afterwards", statement));
    let restart = restart.map(|command| ("restart", command.to_owned()));
    let steps: Vec<(&str, String)> = changes.chain(undo).chain(restart).collect();
    let steps: Vec<(&str, &str)> = steps.iter().map(|(when, step)| (*when, step.as_str())).collect();
    let mark = serde_json::json!({ "target": url, "steps": steps }).to_string();
    let file = consent_file("allowed-settings");
    if file.as_deref().is_some_and(|file| contains_mark(file, &mark)) {
        return Ok(());
    }
    if !ctx.consent.all && !ctx.listener.allows(&steps)? {
        let all: Vec<String> = steps.iter().map(|(when, step)| format!("{when}: {step}")).collect();
        return Err(Error::usage(
            format!("the test changes settings of the server at {url} for all its users: {}", all.join("; ")),
            "--allow-hooks allows that, now and in later tests with the same values",
        ));
    }
    if let Some(file) = file
        && let Err(error) = store_mark(&file, &mark)
    {
        ctx.emit(CampaignEvent::Warning(Warning::ConsentNotKept(error.to_string(), file)));
    }
    Ok(())
}
