//! `dyno man`: writes manual pages.

use std::io::Write;

use anyhow::Context;
use clap::CommandFactory;

use crate::cli::{Cli, Man};
use crate::console::Console;
use crate::exit::Exit;

pub(super) fn run(args: &Man, talk: &Console) -> anyhow::Result<Exit> {
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        std::io::stdout().lock().write_all(&page)?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(dir).with_context(|| format!("{} cannot be created", dir.display()))?;
    clap_mangen::generate_to(Cli::command(), dir)
        .with_context(|| format!("the pages cannot be written into {}", dir.display()))?;
    talk.say(&format!("wrote the manual pages into {}", dir.display()));
    Ok(Exit::Done)
}
