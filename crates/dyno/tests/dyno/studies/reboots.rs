//! Studies across machine restarts. To simulate a restart, the test changes the boot ID in the journal.

use std::process::Command;

use super::{TRACED, env_with_study, leftover_files, run_study};
use crate::common::TestEnv;

/// The traced variant waits for a restart of the machine.
fn study_toml() -> String {
    TRACED.replace("name = \"traced\"", "name = \"traced\"\nneeds = [\"reboot\"]")
}

/// Changes the boot ID of all entries in the journal so far.
fn fake_reboot(desk: &TestEnv, number: u32) {
    let folder = std::fs::read_dir(desk.file("studies")).unwrap().next().unwrap().unwrap().path();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let journal = std::fs::read_to_string(folder.join("journal")).unwrap();
    std::fs::write(folder.join("journal"), journal.replace(boot.trim(), &format!("start {number}"))).unwrap();
}

#[test]
fn variant_needing_a_reboot_waits_for_it() {
    let desk = env_with_study(&study_toml());
    let waits = run_study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert!(waits.code == 4, "{waits:#?}");
    assert!(waits.err.contains("must be restarted now"), "{waits:#?}");
    assert!(leftover_files(&desk).contains(&"two".to_owned()), "what is applied stays for the next start");
    let still = desk.dyno(&["study", "resume"]);
    assert!(still.code == 4, "{still:#?}");
    assert!(still.err.contains("must be restarted now"), "{still:#?}");
    assert!(leftover_files(&desk).contains(&"two".to_owned()));
    fake_reboot(&desk, 1);
    let next = desk.dyno(&["study", "resume"]);
    assert!(next.code == 4, "{next:#?}");
    assert!(next.err.contains("load: loaded in"), "{next:#?}");
    assert!(next.err.contains("restoring traced: it is measured"), "{next:#?}");
    // After enough restarts of the machine the study completes.
    let mut last = next;
    for number in 2.. {
        if last.code != 4 {
            break;
        }
        fake_reboot(&desk, number);
        last = desk.dyno(&["study", "resume"]);
        assert!(number < 9, "{last:#?}");
    }
    assert!(last.code == 0, "{last:#?}");
    assert!(last.err.contains("restart it to return to its usual state"), "{last:#?}");
    assert_eq!(leftover_files(&desk), Vec::<String>::new());
}

/// The restart requested by a leg no longer counts after one more restart: another kernel may run by then.
#[test]
fn leg_interrupted_after_reboot_requests_another_reboot() {
    let waiting = "verify = [\"test -f $HERE/go || sleep 600; test";
    let desk = env_with_study(&study_toml().replace("verify = [\"test", waiting));
    assert_eq!(run_study(&desk, &["run", "study.toml", "--allow-hooks"]).code, 4);
    fake_reboot(&desk, 1);
    let mut running = desk.start(&["study", "resume"]);
    running.wait_for_line("verify: test -f");
    running.signal("KILL");
    running.wait();
    desk.write("go", "");
    let again = desk.dyno(&["study", "resume"]);
    assert!(again.code == 4, "{again:#?}");
    assert!(again.err.contains("restoring traced: an earlier process"), "{again:#?}");
    assert!(again.err.contains("apply: touch"), "{again:#?}");
    fake_reboot(&desk, 2);
    let next = desk.dyno(&["study", "resume"]);
    assert!(next.err.contains("restoring traced: it is measured"), "{next:#?}");
}

/// A loop device, detached at the end; without one the test is skipped.
struct Loop(String);

impl Loop {
    fn attach(scenario: &str, file: &str, bytes: u64) -> Option<Self> {
        std::fs::File::create(file).unwrap().set_len(bytes).unwrap();
        let output = Command::new("losetup").args(["--find", "--show", file]).output();
        let Some(output) = output.ok().filter(|output| output.status.success()) else {
            dyno_testbed::skip(scenario, "no loop devices, which need root");
            return None;
        };
        Some(Self(String::from_utf8(output.stdout).unwrap().trim().to_owned()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// After a restart, a disk's name may belong to another disk.
#[test]
fn device_name_reassigned_to_another_disk_is_refused() {
    let scenario = "another-disk";
    let text =
        study_toml().replace("[target]", "devices = [\"${device}\"]\n[params]\ndevice = \"\"\n[target]");
    let desk = env_with_study(&text);
    let path = |name: &str| desk.file(name).to_str().unwrap().to_owned();
    let Some(one) = Loop::attach(scenario, &path("one.img"), 8 << 20) else { return };
    let Some(other) = Loop::attach(scenario, &path("other.img"), 16 << 20) else { return };
    let link = path("disk");
    std::os::unix::fs::symlink(&one.0, &link).unwrap();
    let device = format!("device={link}");
    let waits = run_study(&desk, &["run", "study.toml", "--allow-hooks", "--param", &device]);
    assert_eq!(waits.code, 4, "{waits:#?}");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other.0, &link).unwrap();
    fake_reboot(&desk, 1);
    let refused = desk.dyno(&["study", "resume"]);
    assert!(refused.code == 2, "{refused:#?}");
    assert!(refused.err.contains("is no longer the disk that it was when the study began"), "{refused:#?}");
    assert!(leftover_files(&desk).contains(&"two".to_owned()), "nothing is touched");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&one.0, &link).unwrap();
    let next = desk.dyno(&["study", "resume"]);
    assert!(next.err.contains("restoring traced: it is measured"), "{next:#?}");
}
