//! Writes files that the user will edit.

use std::io::Write as _;
use std::path::Path;

use crate::exit::usage;

/// Writes a file that the user will edit; overwrites an existing one only with `force`. `option` is the
/// option for another file name.
pub(super) fn write_new(path: &Path, text: &str, force: bool, option: &str) -> anyhow::Result<()> {
    let written = match force {
        true => dyno_campaign::files::replace(path, text.as_bytes()),
        false => {
            let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
            file.and_then(|mut file| file.write_all(text.as_bytes()))
        }
    };
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists if !force => usage(
            format!("{} already exists", path.display()),
            format!("--force overwrites it; {option} FILE writes another file"),
        ),
        _ => usage(
            format!("{} cannot be written: {error}", path.display()),
            format!("name another file with {option}"),
        ),
    })
}
