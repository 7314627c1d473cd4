//! The server's processes and threads, where they run on this machine.

use std::time::Duration;

/// The longest that a server on this machine takes to answer nothing. One that takes longer is reached through something
/// else, and has the number of a process here only by chance.
pub const NEAR: Duration = Duration::from_millis(10);

/// The processor on which the process or thread `task` last ran (`proc(5)`: field 39 of `stat`); `None` where there is none
/// here whose command line `is_server` knows as the server's.
pub fn last_processor(task: u32, is_server: fn(&[u8]) -> bool) -> Option<usize> {
    let command_line = std::fs::read(format!("/proc/{task}/cmdline")).ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{task}/stat")).ok()?;
    // The name may hold anything, so fields are counted from the last parenthesis on: the third is the first behind it.
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields)?;
    is_server(&command_line).then(|| fields.split(' ').nth(36)?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_of_this_thread_is_known_where_its_program_is_the_one() {
        let thread = std::fs::read_link("/proc/thread-self").unwrap();
        let here = thread.file_name().unwrap().to_str().unwrap().parse().unwrap();
        assert!(last_processor(here, |line| !line.is_empty()).is_some());
        assert_eq!(last_processor(here, |_| false), None);
        assert_eq!(last_processor(u32::MAX, |_| true), None);
    }
}
