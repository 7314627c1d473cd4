//! Errors that prevent a whole calibration.

use std::path::PathBuf;

/// An error that prevents the calibration. A part that cannot be measured is not an error: the record states
/// the reason.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The folder cannot be used.
    #[error("{} is not a usable folder: {why}", folder.display())]
    Folder {
        folder: PathBuf,
        /// Why it cannot be used.
        why: String,
    },
    /// The request is contradictory; the text says why.
    #[error("{0}")]
    Asked(String),
    /// Free space is too small for the file.
    #[error("{} has {free} free, and a file of {needed} needs as much and {spare} to spare", folder.display())]
    Room {
        folder: PathBuf,
        free: String,
        needed: String,
        /// Space that must stay free, as text with a unit.
        spare: String,
    },
}

impl CalibrateError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "name the folder of the database's data, or another one on its device",
            Self::Asked(_) => "see `dyno calibrate --help`",
            Self::Room { .. } => "give a smaller --size, or a folder on another device",
        }
    }
}
