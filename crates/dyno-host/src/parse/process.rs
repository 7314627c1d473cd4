//! `/proc/self/stat`, `/proc/self/status` and `/proc/self/auxv`: this process.

/// CPU time of this process since it started, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessTicks {
    pub(crate) user: u64,
    pub(crate) system: u64,
}

/// Fields 14 and 15 of a `/proc/PID/stat` line (proc_pid_stat(5)).
pub(crate) fn parse_process_stat(text: &str) -> Option<ProcessTicks> {
    // The second field is the program's name in brackets, and may itself hold brackets and blanks.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11).map(|field| field.parse().ok());
    Some(ProcessTicks { user: fields.next()??, system: fields.next()?? })
}

/// The list of CPUs that the process may use, from `/proc/self/status`.
pub(crate) fn parse_allowed(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(str::trim)
}

/// `AT_CLKTCK` of `/proc/self/auxv` (getauxval(3)): clock ticks per second. Read there, as `sysconf` cannot be called
/// from safe code.
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
    fn ticks_are_found_behind_any_program_name() {
        let rest = "S 1 1 1 0 -1 4194560 1 2 3 4 55 66 7 8 20 0 9 0 8765 1000 200";
        let expected = Some(ProcessTicks { user: 55, system: 66 });
        assert_eq!(parse_process_stat(&format!("12 (dyno) {rest}")), expected);
        assert_eq!(parse_process_stat(&format!("12 (a) b (c)) {rest}")), expected);
        assert_eq!(parse_process_stat("12 (dyno) S 1 1"), None);
    }

    #[test]
    fn the_clock_is_found_in_the_auxiliary_vector() {
        let entries: [usize; 6] = [16, 1, 17, 100, 0, 0];
        let bytes: Vec<u8> = entries.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(parse_ticks_per_s(&bytes), Some(100));
        assert_eq!(parse_ticks_per_s(&bytes[..20]), None);
        assert_eq!(parse_ticks_per_s(&[]), None);
    }

    #[test]
    fn allowed_cpus() {
        let text = "Name:\tdyno\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n";
        assert_eq!(parse_allowed(text), Some("0-1"));
        assert_eq!(parse_allowed("Name: x"), None);
    }
}
