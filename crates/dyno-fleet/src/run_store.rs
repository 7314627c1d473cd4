//! Stores a run's order and results on the agent's disk until a controller has them.

use std::path::{Path, PathBuf};

use dyno_record::private_file;

use crate::error::FleetError;
use crate::limits::{HANDED_BYTES_MAX, HOSTS_MAX, PIECE_BYTES};
use crate::messages::{AgentOrder, KeptRun};
use crate::subjects::is_name;

/// Maximum number of kept runs; at this number the agent refuses new runs, because nobody collects the
/// results.
pub(crate) const KEPT_MAX: usize = 200;

/// Largest file that is read, bytes: the largest results, with their order.
const BYTES_MAX: u64 = 9 * HANDED_BYTES_MAX as u64;

/// Removes group and other permissions from a folder that an earlier version created readable for others. Its
/// files hold plans and SQL.
fn tighten(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let Ok(facts) = std::fs::symlink_metadata(folder) else { return Ok(()) };
    // A folder that others could write to stays unchanged, because they may have placed files there.
    let is_plain =
        facts.is_dir() && facts.uid() == rustix::process::geteuid().as_raw() && facts.mode() & 0o022 == 0;
    if !is_plain {
        return Ok(());
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_kept =
            entry.file_type()?.is_file() && entry.path().extension().is_some_and(|ending| ending == "kept");
        if is_kept {
            std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

/// The folder of kept runs.
#[derive(Debug, Clone)]
pub(crate) struct KeptRunStore(PathBuf);

impl KeptRunStore {
    /// Opens the folder, and creates it if it is missing.
    pub(crate) fn open(folder: &Path) -> Result<Self, FleetError> {
        let failed =
            |source| FleetError::Kept { what: format!("{} cannot be created", folder.display()), source };
        tighten(folder).and_then(|()| private_file::create_folder(folder)).map_err(failed)?;
        // Tests writing now, so that a run does not fail after it has measured.
        let probe = folder.join(format!(".probe-{}", std::process::id()));
        private_file::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)).map_err(failed)?;
        Ok(Self(folder.to_path_buf()))
    }

    /// Stores the results of a run with its order, atomically.
    pub(crate) fn write(&self, order: &AgentOrder, packed: &[u8]) -> std::io::Result<()> {
        let mut bytes = serde_json::to_vec(order)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(packed);
        private_file::write(&self.path(&order.run_id)?, &bytes)
    }

    /// Reads what is kept of a run: the order and the packed results.
    pub(crate) fn read(&self, run_id: &str) -> std::io::Result<Vec<u8>> {
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        private_file::read(&self.path(run_id)?, BYTES_MAX)?.ok_or_else(missing)
    }

    /// Returns one piece of a kept run, and the number of pieces.
    pub(crate) fn piece(&self, run_id: &str, number: u32) -> std::io::Result<(Vec<u8>, u32)> {
        let bytes = self.read(run_id)?;
        let piece_count = bytes.len().div_ceil(PIECE_BYTES);
        let piece = bytes.chunks(PIECE_BYTES).nth(number as usize).unwrap_or_default();
        Ok((piece.to_vec(), piece_count as u32))
    }

    /// Returns the checksum of a kept run; absent if the run is not kept.
    pub(crate) fn checksum(&self, run_id: &str) -> Option<String> {
        Some(crate::pieces::checksum(&self.read(run_id).ok()?))
    }

    /// Deletes a kept run, if it exists.
    pub(crate) fn forget(&self, run_id: &str) {
        if let Ok(path) = self.path(run_id) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Lists all kept runs.
    pub(crate) fn all(&self) -> Vec<KeptRun> {
        let Ok(entries) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let runs = names.filter_map(|name| Some(name.strip_suffix(".kept")?.to_owned()));
        let mut all: Vec<KeptRun> = runs.filter_map(|run_id| self.kept_run(&run_id)).collect();
        all.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        all.truncate(HOSTS_MAX);
        all
    }

    fn kept_run(&self, run_id: &str) -> Option<KeptRun> {
        let bytes = self.read(run_id).ok()?;
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let order: AgentOrder = serde_json::from_slice(&bytes[..end]).ok()?;
        let (rank, of) = (order.rank, order.weights.len() as u32);
        Some(KeptRun { run_id: run_id.to_owned(), rank, of, bytes: bytes.len() as u64 })
    }

    fn path(&self, run_id: &str) -> std::io::Result<PathBuf> {
        match is_name(run_id) {
            true => Ok(self.0.join(format!("{run_id}.kept"))),
            false => Err(std::io::Error::other("this is not the name of a run")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn kept_run_folder_is_private_and_ignores_links() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("keep");
        let store = KeptRunStore::open(&folder).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let secret = temporary.path().join("secret");
        private_file::write(&secret, b"x\ny").unwrap();
        std::os::unix::fs::symlink(&secret, folder.join("run-1.kept")).unwrap();
        std::fs::hard_link(&secret, folder.join("run-2.kept")).unwrap();
        for name in ["run-1", "run-2", "../secret"] {
            assert!(store.read(name).is_err(), "{name}");
            assert!(store.checksum(name).is_none(), "{name}");
        }
        assert!(store.all().is_empty());
        // An earlier version left this file readable for others; opening the folder corrects that.
        let old = folder.join("run-3.kept");
        private_file::write(&old, b"{}\n").unwrap();
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        KeptRunStore::open(&folder).unwrap();
        assert_eq!((mode(&folder), mode(&old)), (0o700, 0o600));
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(KeptRunStore::open(&folder).is_err(), "others could have put something there");
    }
}
