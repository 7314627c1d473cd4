//! Explains why `perf` could not take samples, and what helps.

use crate::files::Root;

/// Capabilities that allow sampling all processors (capabilities(7)).
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

/// The hint where `perf` is not installed.
pub(super) const NOT_INSTALLED: &str = "perf is not in PATH: install the package linux-perf (Debian), \
                                        linux-tools-generic and linux-tools-$(uname -r) (Ubuntu), perf (Red \
                                        Hat, SUSE, Arch)";

/// Why `perf` ended, from its error output `messages`.
pub(super) fn reason(messages: &str) -> String {
    let root = Root::system();
    let paranoid = root.text("proc/sys/kernel/perf_event_paranoid").and_then(|text| text.parse().ok());
    reason_of(messages, paranoid, root.text("proc/self/status").as_deref().and_then(capabilities))
}

fn reason_of(messages: &str, paranoid: Option<i32>, capabilities: Option<u64>) -> String {
    let may =
        capabilities.is_some_and(|all| [CAP_SYS_ADMIN, CAP_PERFMON].iter().any(|cap| all >> cap & 1 == 1));
    let is_about_rights =
        ["perf_event_paranoid", "Permission denied", "Operation not permitted", "is limited"]
            .iter()
            .any(|word| messages.contains(word));
    if let Some(paranoid) = paranoid.filter(|paranoid| is_about_rights && *paranoid > 0 && !may) {
        return format!(
            "perf may not sample all processors: kernel.perf_event_paranoid is {paranoid}; `sysctl \
             kernel.perf_event_paranoid=0`, as root, allows it for all users (and `sysctl \
             kernel.kptr_restrict=0` shows names of the kernel's functions)"
        );
    }
    if ["unknown option `control", "unknown option `clockid"].iter().any(|word| messages.contains(word)) {
        return "this perf is too old: version 5.12 or newer is required".to_owned();
    }
    let mut lines = messages.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "Error:");
    match lines.next() {
        Some(line) => format!("perf cannot take samples: {line}"),
        None => "perf ended without a message".to_owned(),
    }
}

/// The process's capabilities, from `/proc/self/status`.
fn capabilities(status: &str) -> Option<u64> {
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_perf_permission_names_the_kernel_setting() {
        let messages = "Error:\nAccess to performance monitoring and observability operations is limited.\n\
                    perf_event_paranoid setting is 2:";
        let reason = reason_of(messages, Some(2), Some(0));
        assert!(reason.contains("kernel.perf_event_paranoid is 2"), "{reason}");
        assert!(reason.contains("sysctl kernel.perf_event_paranoid=0"), "{reason}");
        // A process with permission was refused for another reason, such as a container's.
        for (paranoid, capabilities) in [(Some(2), Some(1 << CAP_PERFMON)), (Some(-1), Some(0))] {
            let reason = reason_of(messages, paranoid, capabilities);
            assert!(reason.contains("Access to performance monitoring"), "{reason}");
        }
    }

    #[test]
    fn perf_error_message_is_passed_on() {
        assert!(reason_of("Error: unknown option `control=fd:0,2'", Some(2), Some(0)).contains("5.12"));
        let reason = reason_of("\n  WARNING: perf not found for kernel 6.1\n\nmore", None, None);
        assert_eq!(reason, "perf cannot take samples: WARNING: perf not found for kernel 6.1");
        assert_eq!(reason_of("", None, None), "perf ended without a message");
        assert_eq!(capabilities("Name:\tx\nCapEff:\t0000004000200000\n"), Some(1 << 38 | 1 << 21));
        assert_eq!(capabilities("CapEff: no"), None);
    }
}
