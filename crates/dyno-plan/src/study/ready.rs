//! Ready studies, and the small shell pieces that they are made of: files of `studies/`, inside the program.

use crate::read::PlanFile;

/// A study that is ready to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyStudy {
    /// Its name: `file-systems`.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/studies.rs"));

impl ReadyStudy {
    /// The study of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        READY_STUDIES.iter().find(|study| study.name == name)
    }

    /// Its file, as errors name it.
    pub fn file(&self) -> PlanFile {
        PlanFile { name: format!("studies/{}.toml", self.name), text: self.text.to_owned() }
    }
}
