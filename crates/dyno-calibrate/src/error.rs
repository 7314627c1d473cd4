//! What can keep a calibration from being made at all.

use std::path::PathBuf;

/// A calibration that could not be made. A part of it that could not be measured is none: the record says why.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The folder is none.
    #[error("{} is no folder that can be used: {why}", folder.display())]
    Folder {
        /// What was named.
        folder: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What was asked for makes no sense.
    #[error("{0}")]
    Asked(String),
    /// There is not room enough for the file.
    #[error("{} has {free} free, and a file of {needed} needs as much and {spare} to spare", folder.display())]
    Room {
        /// The folder.
        folder: PathBuf,
        /// What is free, in words.
        free: String,
        /// What is needed, in words.
        needed: String,
        /// What is left to others, in words.
        spare: String,
    },
}

impl CalibrateError {
    /// The way out.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "name the folder of the database's data, or another one on its device",
            Self::Asked(_) => "`dyno calibrate --help` shows what there is",
            Self::Room { .. } => "--size with less, or a folder of another device",
        }
    }
}
