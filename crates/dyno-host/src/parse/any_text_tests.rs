//! Checks that no parser panics on any text.

use std::path::Path;

use proptest::prelude::*;

use super::*;

/// Text as the kernel writes it: names, large and negative numbers, and its separators.
fn kernel_like() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-zA-Z_/0-9]{1,10}",
        any::<u64>().prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        Just("cpu".to_owned()),
        Just("total=18446744073709551615".to_owned()),
        Just("device x mounted on /m with fstype nfs".to_owned()),
        Just("\n\tREAD:".to_owned()),
        Just("\n\tbytes:".to_owned()),
        Just("\\04".to_owned()),
        Just("(x) )".to_owned()),
        Just(" - ".to_owned()),
    ];
    let separator = prop_oneof![Just(" "), Just("\n"), Just(": "), Just("\t"), Just(","), Just("-")];
    proptest::collection::vec((word, separator), 0..60)
        .prop_map(|words| words.into_iter().map(|(word, separator)| word + separator).collect())
}

proptest! {
    #[test]
    fn host_parsers_never_panic_on_any_text(text in prop_oneof![kernel_like(), ".{0,300}"]) {
        let _ = cpu::parse_stat(&text);
        let _ = cpu::parse_model(&text);
        let _ = cpu::has_hypervisor_flag(&text);
        let _ = disk::parse_diskstats(&text).count();
        let _ = memory::parse_meminfo(&text);
        let _ = memory::parse_vmstat(&text);
        let _ = net::parse_net_dev(&text).count();
        let _ = nfs::parse_mountstats(&text, Path::new("/m"));
        let _ = pressure::parse_pressure(&text);
        let _ = process::parse_process_stat(&text);
        let _ = process::parse_process(&text);
        let _ = process::parse_allowed(&text);
        let _ = process::parse_ticks_per_s(text.as_bytes());
        let _ = list::count(&text);
        let _ = cgroup::parse_cpu_max(&text);
        let _ = cgroup::parse_memory_max(&text);
        let mounts = mounts::parse_mountinfo(&text);
        let _ = mounts::mount_of(&mounts, Path::new("/a/b"));
        let _ = cgroup::folder(&text, &mounts, "cpu");
    }
}
