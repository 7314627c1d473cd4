//! A browser without a window, led over a pipe by its DevTools protocol.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::until;

/// A browser with one page.
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: u64,
    session: Option<String>,
    /// What the page's console complained of.
    pub complaints: Vec<String>,
}

/// The program, if this machine has one.
pub fn program() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

impl Browser {
    /// Starts `program` with its profile in `folder`.
    pub fn start(program: &Path, folder: &Path) -> Self {
        // The pipe is descriptors 3 and 4.
        let script = r#"exec "$0" "$@" 3<&0 4>&1 >/dev/null 2>&1 </dev/null"#;
        let mut process = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut browser = Self { process, to, from, number: 0, session: None, complaints: Vec::new() };
        let page = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut line = Vec::new();
            assert!(self.from.read_until(0, &mut line).unwrap() > 0, "the browser is gone");
            line.pop();
            let answer: Value = serde_json::from_slice(&line).unwrap();
            if answer["id"] == self.number {
                // The page went away while the script ran.
                if answer["error"]["message"].as_str().is_some_and(|message| message.contains("navigated")) {
                    return Value::Null;
                }
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let said = match answer["method"].as_str() {
                Some("Log.entryAdded") => &answer["params"]["entry"]["text"],
                Some("Runtime.exceptionThrown") => {
                    &answer["params"]["exceptionDetails"]["exception"]["description"]
                }
                _ => continue,
            };
            self.complaints.extend(said.as_str().map(str::to_owned));
        }
    }

    /// What a script comes to; nothing while a page comes.
    pub fn run(&mut self, script: &str) -> Value {
        let parameters = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        self.ask("Runtime.evaluate", &parameters)["result"]["value"].clone()
    }

    /// Goes to an address.
    pub fn go(&mut self, url: &str) {
        self.ask("Page.navigate", &json!({ "url": url }));
    }

    /// Waits until a script says yes.
    pub fn until(&mut self, script: &str) {
        until(script, || {
            self.run(&format!("document.readyState === 'complete' && Boolean({script})")) == true
        });
    }

    /// Clicks on what `selector` finds, once it is there.
    pub fn click(&mut self, selector: &str) {
        self.until(&format!("document.querySelector({selector:?})"));
        self.run(&format!("document.querySelector({selector:?}).click()"));
    }

    /// Presses a key, as a hand would: `Tab`, `Enter` or `Space`.
    pub fn press(&mut self, key: &str) {
        let (name, code, text) = match key {
            "Space" => (" ", 32, " "),
            "Enter" => ("Enter", 13, "\r"),
            _ => ("Tab", 9, ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let press = json!({ "type": kind, "key": name, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.ask("Input.dispatchKeyEvent", &press);
        }
    }

    /// What is wrong with the page for those who see little, or who have a keyboard only, in both appearances.
    pub fn audit(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        for theme in ["light", "dark"] {
            self.run(&format!("document.documentElement.dataset.theme = '{theme}'"));
            let found = self.run(include_str!("audit.js"));
            let lines = found.as_array().unwrap_or_else(|| panic!("the audit ended with {found}"));
            wrong.extend(lines.iter().map(|line| format!("{theme}: {}", line.as_str().unwrap())));
        }
        wrong
    }

    /// Writes into a field.
    pub fn write(&mut self, name: &str, value: &str) {
        self.until(&format!("document.getElementsByName({name:?})[0]"));
        self.run(&format!("document.getElementsByName({name:?})[0].value = {value:?}"));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
