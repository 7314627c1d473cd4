//! Parses `/proc/PID/stat`, `/proc/self/status` and `/proc/self/auxv`.

use serde::{Deserialize, Serialize};

/// CPU time of this process since it started, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessTicks {
    pub(crate) user: u64,
    pub(crate) system: u64,
}

/// Fields 14 and 15 of a `/proc/PID/stat` line (proc_pid_stat(5)).
pub(crate) fn parse_process_stat(text: &str) -> Option<ProcessTicks> {
    // The second field is the program's name in parentheses, and may contain parentheses and blanks.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11).map(|field| field.parse().ok());
    Some(ProcessTicks { user: fields.next()??, system: fields.next()?? })
}

/// One process of this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HostProcess {
    /// The program's name as it reports it.
    pub(crate) name: String,
    /// The number of its parent process.
    pub(crate) parent: u32,
    /// CPU time of all its threads, in clock ticks.
    pub(crate) ticks: u64,
    /// CPU time of its ended children that it has waited for, in clock ticks.
    pub(crate) reaped_ticks: u64,
    /// When it was started, in clock ticks since boot.
    pub(crate) started: u64,
}

/// Fields 2, 4, 14 to 17 and 22 of a `/proc/PID/stat` line (proc_pid_stat(5)).
pub(crate) fn parse_process(text: &str) -> Option<HostProcess> {
    let (begin, fields) = text.rsplit_once(')')?;
    let name = begin.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok().map(|n| u64::try_from(n).unwrap_or(0));
    Some(HostProcess {
        name,
        parent: u32::try_from(number(1)?).ok()?,
        ticks: number(11)?.saturating_add(number(12)?),
        reaped_ticks: number(13)?.saturating_add(number(14)?),
        started: number(19)?,
    })
}

/// The list of CPUs that the process may use, from `/proc/self/status`.
pub(crate) fn parse_allowed(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(str::trim)
}

/// `AT_CLKTCK` of `/proc/self/auxv` (getauxval(3)): clock ticks per second. Safe code cannot call `sysconf`.
pub(crate) fn parse_ticks_per_s(auxv: &[u8]) -> Option<u64> {
    const AT_CLKTCK: usize = 17;
    const WORD: usize = size_of::<usize>();
    let word = |bytes: &[u8]| bytes.try_into().ok().map(usize::from_ne_bytes);
    auxv.chunks_exact(2 * WORD)
        .find(|entry| word(&entry[..WORD]) == Some(AT_CLKTCK))
        .and_then(|entry| word(&entry[WORD..]))
        .filter(|&ticks| ticks > 0)
        .map(|ticks| ticks as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_ticks_are_parsed_after_any_program_name() {
        let rest = "S 1 1 1 0 -1 4194560 1 2 3 4 55 66 7 8 20 0 9 0 8765 1000 200";
        let expected = Some(ProcessTicks { user: 55, system: 66 });
        assert_eq!(parse_process_stat(&format!("12 (dyno) {rest}")), expected);
        assert_eq!(parse_process_stat(&format!("12 (a) b (c)) {rest}")), expected);
        assert_eq!(parse_process_stat("12 (dyno) S 1 1"), None);
    }

    #[test]
    fn process_stat_line_is_parsed_with_parent_and_child_ticks() {
        let line = "61 (post (g)) S 60 60 60 0 -1 4194560 1 2 3 4 55 66 7 8 20 0 9 0 8765 1000 200";
        let expected =
            HostProcess { name: "post (g)".into(), parent: 60, ticks: 121, reaped_ticks: 15, started: 8_765 };
        assert_eq!(parse_process(line), Some(expected));
        assert_eq!(parse_process("61 (postgres) S 60"), None);
        assert_eq!(parse_process(""), None);
    }

    #[test]
    fn clock_ticks_are_read_from_the_auxiliary_vector() {
        let entries: [usize; 6] = [16, 1, 17, 100, 0, 0];
        let bytes: Vec<u8> = entries.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(parse_ticks_per_s(&bytes), Some(100));
        assert_eq!(parse_ticks_per_s(&bytes[..20]), None);
        assert_eq!(parse_ticks_per_s(&[]), None);
    }

    #[test]
    fn allowed_cpu_list_is_parsed() {
        let text = "Name:\tdyno\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n";
        assert_eq!(parse_allowed(text), Some("0-1"));
        assert_eq!(parse_allowed("Name: x"), None);
    }
}
