//! The program at a terminal, where it asks.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::Desk;

/// The program at a terminal of its own, made by `script(1)`.
pub struct Pty {
    child: Child,
    out: ChildStdout,
    shown: String,
}

impl Desk {
    /// A command that runs the program at a terminal.
    pub fn at_terminal(&self, args: &[&str]) -> Command {
        self.at_terminal_after("", args)
    }

    /// A command that runs the program at a terminal of 100 columns and 30 lines that can show a full screen.
    pub fn at_screen(&self, args: &[&str]) -> Command {
        let mut command = self.at_terminal_after("stty cols 100 rows 30; exec ", args);
        command.env("TERM", "xterm-256color");
        command
    }

    fn at_terminal_after(&self, before: &str, args: &[&str]) -> Command {
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

    /// Starts the program at a terminal, for somebody who answers.
    pub fn asked(&self, args: &[&str]) -> Pty {
        Pty::of(self.at_terminal(args))
    }

    /// Starts the program at a terminal that can show a full screen.
    pub fn on_screen(&self, args: &[&str]) -> Pty {
        Pty::of(self.at_screen(args))
    }
}

impl Pty {
    fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        Self { child, out, shown: String::new() }
    }

    /// Reads what is shown up to these words, and answers with a line.
    pub fn answer(&mut self, words: &str, line: &str) {
        self.shows(words);
        self.types(&format!("{line}\n"));
    }

    /// Types these keys.
    pub fn types(&mut self, keys: &str) {
        self.child.stdin.as_ref().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Reads what is shown up to these words.
    pub fn shows(&mut self, words: &str) {
        let mut byte = [0];
        while !self.shown.ends_with(words) {
            let read = self.out.read(&mut byte).unwrap();
            assert!(read > 0, "it ended without showing {words:?}:\n{}", self.shown);
            self.shown.push(char::from(byte[0]));
        }
    }

    /// Waits for the end: the exit code, and everything that was shown.
    pub fn end(mut self) -> (i32, String) {
        let mut rest = Vec::new();
        let _ = self.out.read_to_end(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, format!("{}{}", self.shown, String::from_utf8_lossy(&rest)))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A test that failed in the middle leaves no program behind; its terminal goes with this one.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
