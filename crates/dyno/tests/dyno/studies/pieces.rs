//! Tests of each helper script of studies.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::common::{CommandOutput, TestEnv};

/// The menu of Debian's GRUB with two kernels, as `update-grub` writes it, without irrelevant parts.
const MENU: &str = "
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1' {
\tlinux\t/boot/vmlinuz-6.12.1-amd64 root=UUID=1 ro
}
submenu 'Advanced options' $menuentry_id_option 'gnulinux-advanced-1' {
\tmenuentry 'With Linux 6.12.1-amd64' --class debian $menuentry_id_option 'gnulinux-6.12.1-amd64-advanced-1' {
\t\tlinux\t/boot/vmlinuz-6.12.1-amd64 root=UUID=1 ro
\t}
\tmenuentry 'With Linux 6.1.0-50-amd64 (recovery mode)' $menuentry_id_option 'gnulinux-6.1.0-50-amd64-recovery-1' {
\t\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 root=UUID=1 ro single
\t}
\tmenuentry 'With Linux 6.1.0-50-amd64' --class debian $menuentry_id_option 'gnulinux-6.1.0-50-amd64-advanced-1' {
\t\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 root=UUID=1 ro
\t}
}
menuentry 'Without ids' {
\tlinux16\t/vmlinuz-5.10.0 root=UUID=1 ro
}
";

fn piece(name: &str) -> &'static str {
    dyno_plan::study::PIECES.iter().find(|(piece, _)| *piece == name).unwrap().1
}

/// The kernel piece, with a folder for `grub.cfg` and GRUB programs that print their arguments.
fn run_kernel_piece(desk: &TestEnv, args: &str) -> CommandOutput {
    desk.write("study-kernel", piece("study-kernel"));
    std::fs::create_dir_all(desk.file("grub")).unwrap();
    desk.write("grub/grub.cfg", MENU);
    for program in ["grub-reboot", "grub-editenv"] {
        desk.write(program, "#!/bin/sh\necho \"$0: $*\"\n");
        std::fs::set_permissions(desk.file(program), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let line = format!("PATH=\"$PWD:$PATH\" grub=\"$PWD/grub\" sh ./study-kernel {args}");
    let output = Command::new("sh").args(["-c", &line]).current_dir(desk.path()).output().unwrap();
    CommandOutput {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn kernel_release_is_found_in_boot_menu() {
    let desk = TestEnv::new();
    for (release, entry) in [
        ("6.12.1-amd64", "gnulinux-simple-1"),
        ("6.1.0-50-amd64", "gnulinux-advanced-1>gnulinux-6.1.0-50-amd64-advanced-1"),
        ("5.10.0", "Without ids"),
    ] {
        let output = run_kernel_piece(&desk, &format!("next {release}"));
        assert!(output.code == 0, "{output:#?}");
        assert!(output.out.contains(&format!("next {entry}\n")), "{output:#?}");
        assert!(output.out.contains("grub-reboot: --boot-directory="), "{output:#?}");
    }
    let unknown = run_kernel_piece(&desk, "next 6.1.0-5");
    assert!(unknown.code == 1, "{unknown:#?}");
    assert!(unknown.err.contains("it has 5.10.0 6.1.0-50-amd64 6.12.1-amd64"), "{unknown:#?}");
    let missing_release = run_kernel_piece(&desk, "next \"\"");
    assert!(missing_release.code == 1, "{missing_release:#?}");
    assert!(missing_release.err.contains("which release?"), "{missing_release:#?}");
    let back = run_kernel_piece(&desk, "back");
    assert!(back.code == 0, "{back:#?}");
    assert!(back.out.contains("grubenv unset next_entry"), "{back:#?}");
    let is = run_kernel_piece(&desk, "is 1.2.3");
    assert!(is.code == 1, "{is:#?}");
    assert!(is.err.contains("and not 1.2.3"), "{is:#?}");
}

/// Instead of an NFS client, a folder is mounted at another place.
#[test]
fn export_must_be_empty_and_foreign_files_are_kept() {
    let desk = TestEnv::new();
    desk.write("study-nfs", piece("study-nfs"));
    let script = "
        export STUDY=$PWD/study export=$PWD/export other='mount --bind'
        mkdir study export && touch export/others
        ! sh ./study-nfs up other && test -f export/others && sh ./study-nfs down && test -f export/others
        rm export/others && sh ./study-nfs up other && sh ./study-nfs is '' && mkdir study/mnt/db && touch study/mnt/db/file
        ! sh ./study-nfs is fuse && test -f export/db/file
        touch export/meanwhile && sh ./study-nfs down && sh ./study-nfs down && test -f export/meanwhile
        ! sh ./study-nfs up other && rm export/meanwhile && sh ./study-nfs down
        test -z \"$(ls -A export)$(ls -A study)\" && ! grep -q \"$STUDY\" /proc/self/mountinfo && echo all of it";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-ec", script]).current_dir(desk.path());
    let output = match command.output() {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("unshare failed") => output,
        _ => return dyno_testbed::skip("study-nfs", "no namespace of mounts, which needs root"),
    };
    assert!(output.status.success(), "{output:#?}");
    assert!(output.stdout.ends_with(b"all of it\n"), "{output:#?}");
}
