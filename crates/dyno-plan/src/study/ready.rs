//! Ready studies and the helper scripts that they use: files of `catalog/studies/`, embedded in the program.

use crate::read::PlanFile;

/// A study that is ready to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyStudy {
    /// Its name, as users select it: `file-systems`.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/studies.rs"));

impl ReadyStudy {
    /// The ready study with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        READY_STUDIES.iter().find(|study| study.name == name)
    }

    /// The file with the name that errors show.
    pub fn file(&self) -> PlanFile {
        PlanFile { name: format!("studies/{}.toml", self.name), text: self.text.to_owned() }
    }
}
