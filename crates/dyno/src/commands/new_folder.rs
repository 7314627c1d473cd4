//! Writes folders of workloads.

use std::path::Path;

use super::new_file::write_new;
use crate::exit::usage;

/// Name of the workload: the given one, or the folder's name reduced to valid characters; else `otherwise`.
pub(super) fn workload_name(requested: Option<&str>, into: &Path, otherwise: &str) -> anyhow::Result<String> {
    let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic());
    let Some(name) = requested else {
        let last = into.file_name().and_then(|name| name.to_str()).unwrap_or(otherwise);
        let plain: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .take(40)
            .collect();
        return Ok(if begins(&plain) { plain } else { otherwise.to_owned() });
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    match name.len() <= 40 && begins(name) && name.bytes().all(plain) {
        true => Ok(name.to_owned()),
        false => Err(usage(
            format!("invalid workload name {name}"),
            "letters, digits, - and _, a letter first, 40 at most",
        )),
    }
}

/// Writes these files into `folder` and creates it if needed; overwrites files only with `force`.
pub(super) fn write_folder(folder: &Path, files: &[(String, String)], force: bool) -> anyhow::Result<()> {
    let would_overwrite = |file: &str| !force && folder.join(file).exists();
    if let Some((file, _)) = files.iter().find(|(file, _)| would_overwrite(file)) {
        return Err(usage(
            format!("{} already exists", folder.join(file).display()),
            "--force overwrites it; --into DIR selects another folder",
        ));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        usage(format!("{} cannot be created: {error}", folder.display()), "name another folder after --into")
    })?;
    for (file, text) in files {
        write_new(&folder.join(file), text, force, "--into")?;
    }
    Ok(())
}
