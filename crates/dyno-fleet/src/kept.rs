//! What an agent keeps on its disk until somebody has it: the order that it followed and what its sessions measured.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::FleetError;
use crate::limits::{HOSTS_MAX, PIECE_BYTES};
use crate::messages::{KeptRun, Order};
use crate::subjects::is_name;

/// Runs that are kept at most: more say that nobody collects.
pub(crate) const KEPT_MAX: usize = 200;

/// The folder of what is kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept(PathBuf);

impl Kept {
    /// Opens the folder, made if it is not there.
    pub(crate) fn open(folder: &Path) -> Result<Self, FleetError> {
        let failed =
            |source| FleetError::Kept { what: format!("{} cannot be made", folder.display()), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        // What cannot be written is found before a run, not after it.
        let probe = folder.join(format!(".probe-{}", std::process::id()));
        std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)).map_err(failed)?;
        Ok(Self(folder.to_path_buf()))
    }

    /// Writes what was measured of a run, with the order; all of it or nothing is there afterwards.
    pub(crate) fn write(&self, order: &Order, packed: &[u8]) -> std::io::Result<()> {
        let mut bytes = serde_json::to_vec(order)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(packed);
        let path = self.path(&order.run_id)?;
        let draft = path.with_extension("part");
        let mut file = std::fs::File::create(&draft)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&draft, &path)
    }

    /// What is kept of a run: the order and the packed bytes.
    pub(crate) fn read(&self, run_id: &str) -> std::io::Result<Vec<u8>> {
        std::fs::read(self.path(run_id)?)
    }

    /// A piece of that, and how many there are.
    pub(crate) fn piece(&self, run_id: &str, number: u32) -> std::io::Result<(Vec<u8>, u32)> {
        let bytes = self.read(run_id)?;
        let of = bytes.len().div_ceil(PIECE_BYTES);
        let piece = bytes.chunks(PIECE_BYTES).nth(number as usize).unwrap_or_default();
        Ok((piece.to_vec(), of as u32))
    }

    /// Keeps a run no more; nothing happens where it is not there.
    pub(crate) fn forget(&self, run_id: &str) {
        if let Ok(path) = self.path(run_id) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// All that is kept.
    pub(crate) fn all(&self) -> Vec<KeptRun> {
        let Ok(entries) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let runs = names.filter_map(|name| Some(name.strip_suffix(".kept")?.to_owned()));
        let mut all: Vec<KeptRun> = runs.filter_map(|run_id| self.one(&run_id)).collect();
        all.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        all.truncate(HOSTS_MAX);
        all
    }

    fn one(&self, run_id: &str) -> Option<KeptRun> {
        let bytes = self.read(run_id).ok()?;
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let order: Order = serde_json::from_slice(&bytes[..end]).ok()?;
        let (rank, of) = (order.rank, order.weights.len() as u32);
        Some(KeptRun { run_id: run_id.to_owned(), rank, of, bytes: bytes.len() as u64 })
    }

    fn path(&self, run_id: &str) -> std::io::Result<PathBuf> {
        match is_name(run_id) {
            true => Ok(self.0.join(format!("{run_id}.kept"))),
            false => Err(std::io::Error::other("this is no name of a run")),
        }
    }
}
