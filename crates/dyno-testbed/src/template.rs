//! Data directories: `initdb` runs once for each set of binaries, then the result is copied.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::bins::Version;
use crate::child::RunAs;
use crate::command::run;
use crate::data_dirs::DataDir;
use crate::testbeds_dir;

/// One thread per process makes templates; between processes the rename decides.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes `path` (which must not exist) a fresh data directory of `version`, owned by `run_as`.
pub(crate) fn data_dir(version: &Version, run_as: Option<RunAs>, path: PathBuf) -> Result<DataDir, String> {
    let data = DataDir::like(template(version, run_as)?, path)?;
    give_ownership(data.path(), run_as)?;
    Ok(data)
}

/// Makes the server's user the owner of `path` and everything below it.
pub(crate) fn give_ownership(path: &Path, run_as: Option<RunAs>) -> Result<(), String> {
    match run_as {
        Some(RunAs { uid, gid }) => {
            run(Command::new("chown").arg("-R").arg(format!("{uid}:{gid}")).arg(path))
        }
        None => Ok(()),
    }
}

fn template(version: &Version, run_as: Option<RunAs>) -> Result<PathBuf, String> {
    let _one_at_a_time = MAKING.lock().map_err(|_| "an earlier initdb panicked".to_owned())?;
    let dir = testbeds_dir().join("templates");
    let template = dir.join(format!("pg-{}", version.full));
    if template.exists() {
        return Ok(template);
    }
    std::fs::create_dir_all(&dir).map_err(|e| format!("{} cannot be made: {e}", dir.display()))?;
    // Made where the server's user can write, then copied home under a name of this process, then renamed.
    let work = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    give_ownership(work.path(), run_as)?;
    let made = work.path().join("data");
    let mut initdb = Command::new(version.bins.join("initdb"));
    initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]);
    initdb.arg("-D").arg(&made).current_dir(work.path());
    if let Some(user) = run_as {
        user.apply(&mut initdb);
    }
    run(&mut initdb)?;
    let home = dir.join(format!("pg-{}.{}", version.full, std::process::id()));
    run(Command::new("cp").arg("-a").arg(&made).arg(&home))?;
    if std::fs::rename(&home, &template).is_err() {
        // Another process was faster; its template is equally good.
        std::fs::remove_dir_all(&home).map_err(|e| format!("{} cannot be removed: {e}", home.display()))?;
    }
    Ok(template)
}
