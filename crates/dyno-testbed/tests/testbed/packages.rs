//! How the scripts call the system's package manager, tested with a scripted one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts")
}

/// Runs `line` after the script's functions, with `apt_get` as the package manager.
fn sh(apt_get: &str, line: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("apt-get");
    std::fs::write(&program, format!("#!/bin/sh\n{apt_get}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let text = format!(". {}/packages.sh; {line}", scripts().display());
    let count = folder.path().join("count");
    Command::new("sh").args(["-euc", &text]).env("PATH", path).env("COUNT", count).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn package_lock_is_waited_for_but_other_errors_are_not() {
    let busy = "echo x >>\"$COUNT\"; [ \"$(wc -l <\"$COUNT\")\" -ge 3 ] || { echo 'E: Could not get lock /var/lib/apt/lists/lock'; exit 100; }; echo done";
    let output = sh(busy, "when_free apt-get update");
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("done"), "{stderr}");
    assert_eq!(stderr.matches("waiting for the package manager").count(), 1, "{stderr}");
    let output = sh(
        "echo x >>\"$COUNT\"; echo 'E: no network'; exit 100",
        "when_free apt-get update || wc -l <\"$COUNT\"",
    );
    assert_eq!(text(&output.stdout).trim(), "1", "an error other than a lock is reported at once");
    let held = "echo 'E: Unable to acquire the dpkg frontend lock'; exit 100";
    let output = sh(held, "PACKAGES_WAIT=0; when_free apt-get install x");
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("in use by another program"));
}

#[test]
fn package_archive_is_the_systems_own_and_no_host_is_hard_coded() {
    let shell_script = "echo 'Debian-Security|http://a.test/sec'; echo 'Debian|http://b.test/debian/'";
    assert_eq!(text(&sh(shell_script, "debian_archive").stdout).trim(), "http://b.test/debian/");
    assert_eq!(text(&sh("echo 'Ubuntu|http://c.test/ubuntu/'", "debian_archive").stdout), "");
    for entry in std::fs::read_dir(scripts()).unwrap() {
        let path = entry.unwrap().path();
        let script = std::fs::read_to_string(&path).unwrap();
        assert!(!script.contains("http://"), "{} names a host", path.display());
        assert!(!script.contains("https://"), "{} names a host", path.display());
        if path.extension().is_some_and(|kind| kind == "sh") {
            assert!(Command::new("sh").arg("-n").arg(&path).status().unwrap().success());
        }
    }
}
