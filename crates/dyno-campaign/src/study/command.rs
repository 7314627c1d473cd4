//! Runs a command of a study, in a process group whose number is on disk before the command starts.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use dyno_engine::Cancel;
use dyno_plan::Plan;
use dyno_plan::study::PIECES;

use super::order::StudyDefinition;
use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, StudyEvent};
use crate::shell::{Shell, ShellExit, ShellOutcome};

/// The environment variable that marks processes of a study.
pub(super) const MARK: &str = "DYNO_STUDY";

/// The file in the study's folder that contains the number of the running process group.
pub(super) const RUNNING: &str = "running";

/// The subfolder of the study's folder that contains the helper scripts.
const PIECES_FOLDER: &str = "pieces";

/// A shell script that stores its own process id, then replaces itself by the command.
const WRAPPED: &str = r#"echo $$ > "$1" && exec sh -c "$2""#;

/// Runs the commands of a study.
pub(super) struct StudyCommandRunner<'a> {
    pub(super) ctx: &'a CampaignContext<'a>,
    pub(super) order: &'a StudyDefinition,
    pub(super) id: &'a str,
}

/// The context of a command: the variant, and the plan that the server must satisfy.
#[derive(Clone, Copy)]
pub(super) struct StudyCommandContext<'a> {
    pub(super) variant: &'a str,
    pub(super) plan: &'a Plan,
}

impl StudyCommandRunner<'_> {
    /// Runs `command` in the phase `when`; returns its output.
    pub(super) fn run(
        &self,
        when: &'static str,
        command: &str,
        at: StudyCommandContext<'_>,
        cancel: &Cancel,
    ) -> Result<String, Error> {
        self.ctx.emit(CampaignEvent::Study(StudyEvent::Command(when, command.to_owned())));
        let running = self.order.folder.join(RUNNING);
        let arguments =
            ["-c", WRAPPED, "sh", &running.to_string_lossy(), command].map(str::to_owned).to_vec();
        let timeout = Duration::from_secs(self.order.study.timeout_s);
        let shell = Shell { arguments, environment: self.environment(at), timeout };
        let of_engines = self.ctx.engines.specs.0.iter().flat_map(|engine| engine.passwords.variables);
        let passwords = of_engines.copied().chain(at.plan.target.password_env.as_deref());
        let outcome = shell.run(passwords, cancel);
        let failed = |how: String, output: &str| {
            Error::because(format!("{when}: {command}"), format!("it {how}{output}"))
        };
        let ShellOutcome { exit: shell_exit, said: tail } =
            outcome.map_err(|error| failed(format!("could not be started ({error})"), ""))?;
        match shell_exit {
            ShellExit::By(status) if status.success() => Ok(tail),
            ShellExit::By(status) => Err(failed(format!("ended with {status}"), &tail)),
            ShellExit::Late => {
                let seconds = self.order.study.timeout_s;
                Err(failed(format!("did not end within {seconds} s ([study] timeout)"), &tail))
            }
            ShellExit::Stopped => Err(failed("was stopped".to_owned(), &tail)),
            ShellExit::Lost(error) => Err(failed(format!("could not be waited for ({error})"), &tail)),
        }
    }

    fn environment(&self, at: StudyCommandContext<'_>) -> Vec<(String, String)> {
        let StudyDefinition { folder, here, study, erase, .. } = self.order;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/sbin:/usr/bin:/sbin:/bin".to_owned());
        let mut all: Vec<(String, String)> =
            study.params.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        all.extend([
            ("PATH".to_owned(), format!("{}:{path}", text(&folder.join(PIECES_FOLDER)))),
            ("STUDY".to_owned(), text(folder)),
            ("HERE".to_owned(), text(here)),
            (MARK.to_owned(), self.id.to_owned()),
            ("DYNO_VARIANT".to_owned(), at.variant.to_owned()),
            ("DYNO_TARGET".to_owned(), at.plan.target.url.to_string()),
            ("DYNO_PID".to_owned(), std::process::id().to_string()),
            ("DYNO_ERASE".to_owned(), erase.join(" ")),
        ]);
        all
    }
}

/// Writes the helper scripts of this program into the study's folder. That folder comes first in `PATH`, so
/// nothing else may be in it.
pub(super) fn write_pieces(folder: &Path) -> Result<(), Error> {
    let pieces = folder.join(PIECES_FOLDER);
    let failed =
        |error: std::io::Error| Error::because(format!("{} cannot be written", pieces.display()), error);
    match std::fs::create_dir(&pieces) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        made => made.map_err(failed)?,
    }
    for entry in std::fs::read_dir(&pieces).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if !PIECES.iter().any(|(own, _)| name == *own) {
            let problem =
                format!("{} contains {name:?}, which is not one of Dyno's shell scripts", pieces.display());
            return Err(Error::usage(
                problem,
                "remove it: commands of the study would run it instead of the system's program",
            ));
        }
        std::fs::remove_file(pieces.join(name)).map_err(failed)?;
    }
    for (name, text) in PIECES {
        let mut open = std::fs::OpenOptions::new();
        let mut file =
            open.write(true).create_new(true).mode(0o755).open(pieces.join(name)).map_err(failed)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}
