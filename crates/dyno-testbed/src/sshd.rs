//! A real sshd on a loopback port with its own keys and configuration; it does not touch `~/.ssh`.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, wait_until};
use crate::postgres::free_port;
use crate::skip::skip;

/// The longest wait for it to answer.
const WITHIN: Duration = Duration::from_secs(60);

const PROGRAM: &str = "/usr/sbin/sshd";
const CLIENT: &str = "/usr/bin/ssh";

/// One sshd, a child of the test, and a client that knows it under several names. `db1` works; the host key
/// of `stranger` is unknown; `locked` refuses the user's key; nothing listens at `closed`. Tests add further
/// names.
#[derive(Debug)]
pub struct Sshd {
    child: Child,
    folder: TempDir,
}

impl Sshd {
    /// Starts one. Each of `forced` is a further name and the command that runs there instead of the
    /// requested one. Returns `None` and counts a skip if sshd is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(forced: &[(&str, &str)]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() || !Path::new(CLIENT).exists() {
            skip("the test with sshd", "it is not here; run scripts/testbeds.sh");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("dyno-sshd-").tempdir().expect("a temporary folder");
        // The chroot of sshd's privilege separation if it runs as root; Debian's service creates it, too.
        let _ = std::fs::create_dir_all("/run/sshd");
        let port = free_port().expect("a free port");
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| {
            std::fs::write(at(name), text).expect("the test's own folder can be written");
        };
        let host_key = key(&at("host"));
        let mut authorized = format!("{}\n", key(&at("user")));
        key(&at("other"));
        let mut config = String::new();
        let mut add_host = |name: &str, port: u16, key: &str, hosts: &str| {
            config.push_str(&format!(
                "Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {}\n  UserKnownHostsFile {}\n",
                at(key).display(),
                at(hosts).display()
            ));
        };
        add_host("db1", port, "user", "known");
        add_host("stranger", port, "user", "nobody");
        add_host("locked", port, "other", "known");
        add_host("closed", free_port().expect("a free port"), "user", "known");
        for (name, command) in forced {
            let public_key = key(&at(name));
            let escaped = command.replace('"', "\\\"");
            authorized.push_str(&format!("command=\"{escaped}\" {public_key}\n"));
            add_host(name, port, name, "known");
        }
        config.push_str(
            "Host *\n  IdentitiesOnly yes\n  StrictHostKeyChecking yes\n  GlobalKnownHostsFile /dev/null\n",
        );
        write("config", &config);
        write("known", &format!("[127.0.0.1]:{port} {host_key}\n"));
        write("nobody", "");
        write("authorized", &authorized);
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxStartups 100\n",
            at("host").display(),
            at("authorized").display()
        );
        write("server", &server);
        std::fs::create_dir(at("bin")).expect("the test's own folder can be written");
        write("bin/ssh", &format!("#!/bin/sh\nexec {CLIENT} -F '{}' \"$@\"\n", at("config").display()));
        executable(&at("bin/ssh"));
        let mut command = Command::new(PROGRAM);
        command
            .args(["-D", "-e", "-f"])
            .arg(at("server"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(at("log")).expect("the test's own folder can be written"));
        let child = child::spawn(command).expect("sshd can be run");
        let sshd = Self { child, folder };
        let ready = wait_until(WITHIN, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(ready, "sshd does not listen: {}", sshd.log());
        Some(sshd)
    }

    /// A search path on which `ssh` is the client that knows this server.
    pub fn path(&self) -> String {
        let rest = std::env::var("PATH").unwrap_or_default();
        format!("{}:{rest}", self.folder.path().join("bin").display())
    }

    /// Path of a file in the server's folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Closes all its connections; it continues to accept new ones.
    pub fn break_connections(&self) {
        child::children(self.child.id()).into_iter().for_each(|pid| child::signal(pid, libc::SIGKILL));
    }

    /// The server's log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.file("log")).unwrap_or_default()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.break_connections();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a key without a passphrase, and returns its public half.
fn key(at: &Path) -> String {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "dyno", "-f"]).arg(at);
    let made = command.stdin(Stdio::null()).status().expect("ssh-keygen can be run");
    assert!(made.success(), "ssh-keygen makes {}", at.display());
    let public = std::fs::read_to_string(at.with_extension("pub")).expect("there is a public half");
    public.trim_end().to_owned()
}

fn executable(at: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(at, std::fs::Permissions::from_mode(0o755)).expect("the test's own file");
}
