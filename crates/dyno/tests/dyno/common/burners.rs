//! Background activity that uses the processors.

use std::process::{Child, Command, Stdio};

/// Processes that compute until they are dropped.
pub struct Burners(Vec<Child>);

impl Burners {
    pub fn one_per_processor() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::start(processors)
    }

    pub fn start(count: usize) -> Self {
        let burn = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            command.spawn().unwrap()
        };
        Self((0..count).map(|_| burn()).collect())
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
