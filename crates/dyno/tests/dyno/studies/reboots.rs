//! Studies across starts of the machine. As if it had been started anew, the mark of its start is changed in the journal.

use std::process::Command;

use super::{TRACED, desk, left, study};
use crate::common::Desk;

/// The traced variant waits for a start of the machine.
fn text() -> String {
    TRACED.replace("name = \"traced\"", "name = \"traced\"\nneeds = [\"reboot\"]")
}

/// Changes the mark of the machine's start for those that are noted by now.
fn started_anew(desk: &Desk, number: u32) {
    let folder = std::fs::read_dir(desk.file("studies")).unwrap().next().unwrap().unwrap().path();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let journal = std::fs::read_to_string(folder.join("journal")).unwrap();
    std::fs::write(folder.join("journal"), journal.replace(boot.trim(), &format!("start {number}"))).unwrap();
}

#[test]
fn a_variant_that_needs_a_reboot_waits_for_it() {
    let desk = desk(&text());
    let waits = study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert!(waits.code == 4 && waits.err.contains("has to be started anew now"), "{waits:#?}");
    assert!(left(&desk).contains(&"two".to_owned()), "what is applied stays for the next start");
    let still = desk.dyno(&["study", "resume"]);
    assert!(still.code == 4 && still.err.contains("has to be started anew now"), "{still:#?}");
    assert!(left(&desk).contains(&"two".to_owned()));
    started_anew(&desk, 1);
    let next = desk.dyno(&["study", "resume"]);
    assert!(
        next.code == 4
            && next.err.contains("load: loaded in")
            && next.err.contains("putting traced back: it is measured"),
        "{next:#?}"
    );
    // Whoever starts the machine again and again comes to the end.
    let mut last = next;
    for number in 2.. {
        if last.code != 4 {
            break;
        }
        started_anew(&desk, number);
        last = desk.dyno(&["study", "resume"]);
        assert!(number < 9, "{last:#?}");
    }
    assert!(last.code == 0 && last.err.contains("start it anew for its usual state"), "{last:#?}");
    assert_eq!(left(&desk), Vec::<String>::new());
}

/// The start that a leg has asked for is gone once the machine was started once more: by then another kernel may run.
#[test]
fn a_leg_that_is_cut_off_after_its_reboot_asks_for_another_one() {
    let waiting = "verify = [\"test -f $HERE/go || sleep 600; test";
    let desk = desk(&text().replace("verify = [\"test", waiting));
    assert_eq!(study(&desk, &["run", "study.toml", "--allow-hooks"]).code, 4);
    started_anew(&desk, 1);
    let mut running = desk.start(&["study", "resume"]);
    running.until("verify: test -f");
    running.signal("KILL");
    running.end();
    desk.write("go", "");
    let again = desk.dyno(&["study", "resume"]);
    assert!(
        again.code == 4
            && again.err.contains("putting traced back: an earlier process")
            && again.err.contains("apply: touch"),
        "{again:#?}"
    );
    started_anew(&desk, 2);
    let next = desk.dyno(&["study", "resume"]);
    assert!(next.err.contains("putting traced back: it is measured"), "{next:#?}");
}

/// A loop device, detached at the end; nothing, and the test is skipped, where none can be had.
struct Loop(String);

impl Loop {
    fn attach(what: &str, file: &str, bytes: u64) -> Option<Self> {
        std::fs::File::create(file).unwrap().set_len(bytes).unwrap();
        let output = Command::new("losetup").args(["--find", "--show", file]).output();
        let Some(output) = output.ok().filter(|output| output.status.success()) else {
            dyno_testbed::skip(what, "no loop devices, which need root");
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

/// After a start the name of a disk may be that of another one.
#[test]
fn a_device_that_is_another_disk_by_now_is_refused() {
    let what = "another-disk";
    let text = text().replace("[target]", "devices = [\"${device}\"]\n[params]\ndevice = \"\"\n[target]");
    let desk = desk(&text);
    let path = |name: &str| desk.file(name).to_str().unwrap().to_owned();
    let Some(one) = Loop::attach(what, &path("one.img"), 8 << 20) else { return };
    let Some(other) = Loop::attach(what, &path("other.img"), 16 << 20) else { return };
    let link = path("disk");
    std::os::unix::fs::symlink(&one.0, &link).unwrap();
    let device = format!("device={link}");
    let waits = study(&desk, &["run", "study.toml", "--allow-hooks", "--param", &device]);
    assert_eq!(waits.code, 4, "{waits:#?}");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other.0, &link).unwrap();
    started_anew(&desk, 1);
    let refused = desk.dyno(&["study", "resume"]);
    assert!(
        refused.code == 2 && refused.err.contains("is another disk than when the study began"),
        "{refused:#?}"
    );
    assert!(left(&desk).contains(&"two".to_owned()), "nothing is touched");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&one.0, &link).unwrap();
    let next = desk.dyno(&["study", "resume"]);
    assert!(next.err.contains("putting traced back: it is measured"), "{next:#?}");
}
