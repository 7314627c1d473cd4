//! A headless browser, controlled over a pipe with its DevTools protocol.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::json::ExpectJson;
use super::wait_until;

/// A browser that has one page.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: u64,
    session: Option<String>,
    /// Errors and warnings of the page's console.
    pub console_errors: Vec<String>,
}

/// The browser program, if this machine has one.
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
        // Descriptors 3 and 4 are the pipe.
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
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut browser =
            Self { process, input, output, number: 0, session: None, console_errors: Vec::new() };
        let page = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut line = Vec::new();
            assert!(self.output.read_until(0, &mut line).unwrap() > 0, "the browser is gone");
            line.pop();
            let answer: Value = serde_json::from_slice(&line).unwrap();
            if answer["id"] == self.number {
                // The page was left while the script ran.
                if answer["error"]["message"].as_str().is_some_and(|message| message.contains("navigated")) {
                    return Value::Null;
                }
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let log_text = match answer["method"].as_str() {
                Some("Log.entryAdded") => &answer["params"]["entry"]["text"],
                Some("Runtime.exceptionThrown") => {
                    &answer["params"]["exceptionDetails"]["exception"]["description"]
                }
                _ => continue,
            };
            self.console_errors.extend(log_text.as_str().map(str::to_owned));
        }
    }

    /// The result of a script; null while a page is loading.
    pub fn run(&mut self, script: &str) -> Value {
        let parameters = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        self.call("Runtime.evaluate", &parameters)["result"]["value"].clone()
    }

    /// Navigates to a URL and waits.
    pub fn navigate(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
    }

    /// Waits until a script returns true.
    pub fn wait_until_true(&mut self, script: &str) {
        wait_until(script, || {
            self.run(&format!("document.readyState === 'complete' && Boolean({script})")) == true
        });
    }

    /// Clicks the element found by `selector` as soon as it exists.
    pub fn click(&mut self, selector: &str) {
        self.wait_until_true(&format!("document.querySelector({selector:?})"));
        self.run(&format!("document.querySelector({selector:?}).click()"));
    }

    /// Presses a key like a user: `Tab`, `Enter` or `Space`.
    pub fn press(&mut self, key: &str) {
        let (name, code, text) = match key {
            "Space" => (" ", 32, " "),
            "Enter" => ("Enter", 13, "\r"),
            _ => ("Tab", 9, ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let press = json!({ "type": kind, "key": name, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", &press);
        }
    }

    /// Accessibility faults of the page in both appearances, for low vision and for keyboard use.
    pub fn audit(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        for theme in ["light", "dark"] {
            self.run(&format!("document.documentElement.dataset.theme = '{theme}'"));
            let violations = self.run(include_str!("audit.js"));
            let lines = violations.as_array().unwrap_or_else(|| panic!("the audit ended with {violations}"));
            wrong.extend(lines.iter().map(|line| format!("{theme}: {}", line.text())));
        }
        wrong
    }

    pub fn write(&mut self, name: &str, value: &str) {
        self.wait_until_true(&format!("document.getElementsByName({name:?})[0]"));
        self.run(&format!("document.getElementsByName({name:?})[0].value = {value:?}"));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
