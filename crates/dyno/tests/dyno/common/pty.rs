//! Runs the program at a terminal, where it asks questions.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::TestEnv;

/// A program at its own terminal, created by `script(1)`.
pub struct Pty {
    child: Child,
    out: ChildStdout,
    shown: String,
}

impl TestEnv {
    /// A command that runs the program at a terminal.
    pub fn terminal_command(&self, args: &[&str]) -> Command {
        self.terminal_command_after("", args)
    }

    /// A command that runs the program at a terminal with 100 columns and 30 lines that supports a full
    /// screen.
    pub fn screen_command(&self, args: &[&str]) -> Command {
        let mut command = self.terminal_command_after("stty cols 100 rows 30; exec ", args);
        command.env("TERM", "xterm-256color");
        command
    }

    fn terminal_command_after(&self, before: &str, args: &[&str]) -> Command {
        let program = self.command(args);
        let words = std::iter::once(program.get_program()).chain(program.get_args());
        let words: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
        let mut command = Command::new("script");
        command
            .args(["-qec", &format!("{before}{}", words.join(" ")), "/dev/null"])
            .current_dir(self.path())
            .env_clear();
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "dumb").env("SHELL", "/bin/sh").stdin(Stdio::null());
        command
    }

    /// Starts the program at a terminal for a test that answers questions.
    pub fn spawn_at_terminal(&self, args: &[&str]) -> Pty {
        Pty::spawn(self.terminal_command(args))
    }

    /// Starts the program at a terminal that supports a full screen.
    pub fn spawn_on_screen(&self, args: &[&str]) -> Pty {
        Pty::spawn(self.screen_command(args))
    }
}

impl Pty {
    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        Self { child, out, shown: String::new() }
    }

    /// Reads the output up to these words, and answers with a line.
    pub fn answer(&mut self, words: &str, line: &str) {
        self.wait_for_text(words);
        self.type_keys(&format!("{line}\n"));
    }

    /// Sends these keys to the terminal.
    pub fn type_keys(&mut self, keys: &str) {
        self.child.stdin.as_ref().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Reads the output up to these words.
    pub fn wait_for_text(&mut self, words: &str) {
        let mut byte = [0];
        while !self.shown.ends_with(words) {
            let read = self.out.read(&mut byte).unwrap();
            assert!(read > 0, "it ended without showing {words:?}:\n{}", self.shown);
            self.shown.push(char::from(byte[0]));
        }
    }

    /// Waits for the end; returns the exit code and all output.
    pub fn wait(mut self) -> (i32, String) {
        let mut rest = Vec::new();
        let _ = self.out.read_to_end(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, format!("{}{}", self.shown, String::from_utf8_lossy(&rest)))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A failed test must not leave a program behind; its terminal ends with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
