//! One command of a study, in a process group whose number is on disk before the command begins.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use dyno_engine::Cancel;
use dyno_plan::Plan;
use dyno_plan::study::PIECES;

use super::order::Order;
use crate::error::Error;
use crate::event::{Event, StudyEvent};
use crate::lead::Lead;
use crate::shell::{Ended, Outcome, Shell};

/// The variable by which processes of a study are known.
pub(super) const MARK: &str = "DYNO_STUDY";

/// The file with the number of the process group that runs, in the study's folder.
pub(super) const RUNNING: &str = "running";

/// The folder of the shell pieces, in the study's.
const PIECES_FOLDER: &str = "pieces";

/// Notes its own number, then is the command.
const WRAPPED: &str = r#"echo $$ > "$1" && exec sh -c "$2""#;

/// Runs commands of a study.
pub(super) struct Commands<'a> {
    pub(super) lead: &'a Lead<'a>,
    pub(super) order: &'a Order,
    pub(super) id: &'a str,
}

/// Where a command stands: the variant, and the plan that a server has to answer to.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) variant: &'a str,
    pub(super) plan: &'a Plan,
}

impl Commands<'_> {
    /// Runs `command`, at the moment called `when`; returns what it said.
    pub(super) fn run(
        &self,
        when: &'static str,
        command: &str,
        at: At<'_>,
        cancel: &Cancel,
    ) -> Result<String, Error> {
        self.lead.tell(Event::Study(StudyEvent::Command(when, command.to_owned())));
        let running = self.order.folder.join(RUNNING);
        let arguments =
            ["-c", WRAPPED, "sh", &running.to_string_lossy(), command].map(str::to_owned).to_vec();
        let timeout = Duration::from_secs(self.order.study.timeout_s);
        let shell = Shell { arguments, environment: self.environment(at), timeout };
        let of_engines = self.lead.engines.specs.0.iter().flat_map(|engine| engine.passwords.variables);
        let passwords = of_engines.copied().chain(at.plan.target.password_env.as_deref());
        let outcome = shell.run(passwords, cancel);
        let failed =
            |how: String, said: &str| Error::because(format!("{when}: {command}"), format!("it {how}{said}"));
        let Outcome { ended, said } =
            outcome.map_err(|error| failed(format!("could not be started ({error})"), ""))?;
        match ended {
            Ended::By(status) if status.success() => Ok(said),
            Ended::By(status) => Err(failed(format!("ended with {status}"), &said)),
            Ended::Late => {
                let seconds = self.order.study.timeout_s;
                Err(failed(format!("did not end within {seconds} s ([study] timeout)"), &said))
            }
            Ended::Stopped => Err(failed("was stopped".to_owned(), &said)),
            Ended::Lost(error) => Err(failed(format!("could not be waited for ({error})"), &said)),
        }
    }

    fn environment(&self, at: At<'_>) -> Vec<(String, String)> {
        let Order { folder, here, study, erase, .. } = self.order;
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

/// Writes the shell pieces into the study's folder, as this program has them. The folder stands first among those in which commands
/// are looked for: nothing else may be in it.
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
                format!("{} holds {name:?}, which is none of Dyno's shell pieces", pieces.display());
            return Err(Error::usage(
                problem,
                "take it away: commands of the study would find it before the system's own",
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
