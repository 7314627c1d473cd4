//! `dyno demo`: a complete measurement on the embedded engine, in a folder of its own.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::{Cli, DemoArgs};
use crate::console::Console;
use crate::exit::{Exit, usage};

/// The commands of the demo, as a user would type them in its folder. The plan is written first; all others
/// read it.
const STEPS: [&str; 4] = [
    "init --target sqlite:demo.db --set data.scale=64M --set workload.update_pct=20 --set run.warmup=500ms \
     --set run.time=2s --set sweep.sessions=1,2,4 --set sweep.update_pct=0,20",
    "load",
    "sweep",
    "report sweep:last -o report.html",
];
/// Options of every step, because the environment may name other files.
const FILES: [&str; 4] = ["--plan", "dyno.toml", "--repository", "runs.sqlite3"];

pub(super) fn run(args: &DemoArgs, talk: &Console) -> anyhow::Result<Exit> {
    if talk.json {
        return Err(usage(
            "a demo shows text only",
            "leave --json out; `dyno show sweep:last --json --repository DIR/runs.sqlite3` then shows its records",
        ));
    }
    let folder = create_folder(args.dir.as_deref())?;
    std::env::set_current_dir(&folder).with_context(|| format!("cannot enter {}", folder.display()))?;
    talk.say("a small ramp on the embedded database takes about 20 s");
    talk.say("");
    talk.say(&format!("$ cd {}", folder.display()));
    let mut worst = Exit::Done;
    for step in STEPS {
        talk.say(&format!("$ dyno {step} {}", FILES.join(" ")));
        let words = ["dyno"].into_iter().chain(step.split_whitespace()).chain(FILES);
        let ended = super::run(&Cli::of(words)?, talk)?;
        talk.say("");
        match ended {
            Exit::Done => {}
            // The runs are stored, and the page says why they are invalid.
            Exit::Invalid => worst = Exit::Invalid,
            stopped => return Ok(stopped),
        }
    }
    talk.show(&format!(
        "page with charts: file://{0}/report.html\nall files are in {0}; `rm -r {0}` removes them\n\
         commands after `next:` run in that folder: cd {0}\n\
         next: `dyno init --target postgres://USER@HOST/DATABASE` begins with a server of yours; `dyno init --list` \
         lists ready plans",
        folder.display()
    ))?;
    Ok(worst)
}

/// Creates the folder of the demo: `dir`, or one with the time in its name in the system's folder for
/// temporary files.
fn create_folder(dir: Option<&Path>) -> anyhow::Result<PathBuf> {
    let dir = match dir {
        Some(dir) => dir.to_owned(),
        None => {
            let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
            std::env::temp_dir().join(format!("dyno-demo-{now}-{}", std::process::id()))
        }
    };
    std::fs::create_dir(&dir).map_err(|error| {
        usage(
            format!("{} cannot be created: {error}", dir.display()),
            "--dir names a folder that does not exist yet",
        )
    })?;
    Ok(dir.canonicalize()?)
}
