//! Writes options into a plan file, as `dyno init --set KEY=VALUE` does: each on its own line, and comments stay.
//!
//! The editor works on the text, because reading and writing the plan would lose the comments. It reads the result as a plan,
//! so text that it cannot edit gives an error and never a wrong plan.

use crate::error::{Origin, PlanError, PlanErrorKind, PlanErrors};
use crate::keys::{self, EITHERS, PlanKey};
use crate::plan::Plan;
use crate::read::{PlanFile, PlanSource, axis_name, read};

/// Returns `text`, a plan file called `name`, with `options` applied; the file in `options` is ignored.
///
/// # Errors
/// As [`read`]: an option names no key, has a value that is not allowed, or makes an invalid plan.
pub fn with_options(name: &str, text: &str, options: &PlanSource) -> Result<String, PlanErrors> {
    let file = PlanFile { name: name.to_owned(), text: text.to_owned() };
    let wanted = read(&PlanSource { file: Some(file), ..options.clone() })?;
    let mut out = PlanText(text.lines().map(str::to_owned).collect());
    if options.target.is_some() {
        out.put_key(&wanted, if options.further_targets.is_empty() { "target.url" } else { "target.urls" });
    }
    for set in &options.sets {
        let path = set.split_once('=').map_or("", |(path, _)| path.trim());
        match axis_name(path) {
            None => out.put_key(&wanted, path),
            Some(axis) => out.put_axis(&wanted, axis),
        }
    }
    let written = out.0.join("\n") + "\n";
    let file = PlanFile { name: name.to_owned(), text: written.clone() };
    let again = read(&PlanSource { file: Some(file), ..PlanSource::of(options.engines) })?;
    if again != wanted {
        return Err(not_written(name));
    }
    Ok(written)
}

/// The error if the written file differs from the file and options together.
fn not_written(name: &str) -> PlanErrors {
    let mut errors = PlanErrors::default();
    errors.push(PlanError {
        kind: PlanErrorKind::File,
        origin: Origin::File { name: name.to_owned(), line: None, column: None },
        key: None,
        value: None,
        problem: "the options cannot be added to this plan".into(),
        hint: "write the keys into the plan file, and omit the options".into(),
    });
    errors
}

/// The lines of a plan file.
struct PlanText(Vec<String>);

impl PlanText {
    /// Writes the value of `path` in `plan` into its line, and comments out keys that set the same thing.
    fn put_key(&mut self, plan: &Plan, path: &str) {
        let Some(key) = keys::find(path) else { return };
        let Some(value) = key.get(plan) else { return };
        for either in EITHERS.iter().filter(|either| either.paths.contains(&path)) {
            for other in either.paths.iter().filter_map(|other| keys::find(other)) {
                if other.path != path {
                    self.comment_out(other);
                }
            }
        }
        if path == "workload.phases" {
            let excluded_keys = ["workload.rate", "run.time", "run.ops_per_session"];
            excluded_keys
                .iter()
                .filter_map(|other| keys::find(other))
                .for_each(|other| self.comment_out(other));
        }
        self.put(key.section(), key.name(), &key.kind.toml(&value));
    }

    /// Writes the sweep axis called `name`.
    fn put_axis(&mut self, plan: &Plan, name: &str) {
        let bare = |text: &str| text.rsplit('.').next().unwrap_or_default().to_owned();
        let axes = &plan.sweep.axes;
        let exact = axes.iter().find(|axis| axis.key == name);
        let Some(axis) = exact.or_else(|| axes.iter().find(|axis| bare(&axis.key) == bare(name))) else {
            return;
        };
        let values = keys::find(&axis.key).map_or_else(
            || axis.values.join(", "),
            |key| axis.values.iter().map(|value| key.kind.toml(value)).collect::<Vec<_>>().join(", "),
        );
        for written in [format!("\"{}\"", axis.key), axis.key.clone(), bare(&axis.key)] {
            if self.line_of("sweep", &written).is_some() {
                return self.put("sweep", &written, &format!("[{values}]"));
            }
        }
        let name = if axis.key.contains('.') { format!("\"{}\"", axis.key) } else { axis.key.clone() };
        self.put("sweep", &name, &format!("[{values}]"));
    }

    /// Writes `name = value` at the line of `name` in its section, commented or not; otherwise after the last line of the section.
    /// A missing section is added at the end.
    fn put(&mut self, section: &str, name: &str, value: &str) {
        let line = format!("{name} = {value}");
        if let Some(at) = self.line_of(section, name) {
            self.0[at] = line;
        } else if let Some(lines) = self.section(section) {
            let last = lines.clone().rev().find(|at| !self.0[*at].trim().is_empty());
            self.0.insert(last.map_or(lines.start, |at| at + 1), line);
        } else {
            self.0.extend([String::new(), format!("[{section}]"), line]);
        }
    }

    fn comment_out(&mut self, key: &PlanKey) {
        if let Some(at) = self.line_of(key.section(), key.name())
            && !self.0[at].starts_with('#')
        {
            self.0[at].insert_str(0, "# ");
        }
    }

    /// The line of `name` in `section`: the active one, or else the one in a comment.
    fn line_of(&self, section: &str, name: &str) -> Option<usize> {
        let lines = self.section(section)?;
        let says = |at: &usize, mark: &str| {
            let rest = self.0[*at].strip_prefix(mark).and_then(|line| line.strip_prefix(name));
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        lines.clone().find(|at| says(at, "")).or_else(|| lines.clone().find(|at| says(at, "# ")))
    }

    /// The lines of `section` after its header; for an empty name, the lines before the first header.
    fn section(&self, section: &str) -> Option<std::ops::Range<usize>> {
        let is_head = |line: &String| line.starts_with('[');
        let start = match section {
            "" => 0,
            _ => self.0.iter().position(|line| line.trim_end() == format!("[{section}]"))? + 1,
        };
        let length = self.0[start..].iter().position(is_head).unwrap_or(self.0.len() - start);
        Some(start..start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{ENGINES, nothing};
    use crate::{READY, template};

    fn source(sets: &[&str], targets: &[&str]) -> PlanSource {
        let mut targets = targets.iter().map(|url| (*url).to_owned());
        PlanSource {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            target: targets.next(),
            further_targets: targets.collect(),
            ..nothing()
        }
    }

    /// Checks that the written file and the old file with the options give the same plan; returns the new text.
    fn check(text: &str, options: &PlanSource) -> String {
        let written = with_options("x.toml", text, options).unwrap();
        let plan = |text: &str, source: PlanSource| {
            let file = PlanFile { name: "x.toml".into(), text: text.to_owned() };
            read(&PlanSource { file: Some(file), ..source }).unwrap()
        };
        assert_eq!(plan(&written, nothing()), plan(text, options.clone()), "{written}");
        written
    }

    #[test]
    fn plan_edit_writes_options_at_their_key_lines() {
        for engine in ENGINES.0 {
            let options =
                source(&["data.scale=1G", "run.time=5m", "workload.rate=500/s"], &["postgres://me@db1/b"]);
            let written = check(&template(engine), &options);
            for line in
                ["url = \"postgres://me@db1/b\"", "scale = \"1G\"", "time = \"5m\"", "rate = \"500/s\""]
            {
                assert!(written.lines().any(|written| written == line), "{line}: {written}");
            }
            assert!(written.contains("# URL of the database."), "comments stay");
            let phases = check(
                &template(engine),
                &source(&["workload.phases=hold 5/s 9s, csv x: 0s 1/s 1s 1/s"], &["postgres://me@db1/b"]),
            );
            assert!(phases.contains("phases = [\"hold 5/s 9s\", \"csv x: 0s 1/s 1s 1/s\"]"), "{phases}");
        }
    }

    #[test]
    fn conflicting_plan_lines_are_commented_out() {
        let written = check(&template(&ENGINES.0[1]), &source(&["run.ops_per_session=1000"], &[]));
        assert!(written.contains("\nops_per_session = 1000\n"), "{written}");
        assert!(written.contains("\n# time = "), "{written}");
        let two = ["postgres://me@db1/b", "postgres://me@db2/b"];
        let written = check(&template(&ENGINES.0[1]), &source(&["run.sessions_per_schema=2"], &two));
        assert!(written.contains("\n# url = "), "{written}");
        assert!(written.contains("\nurls = [\"postgres"), "{written}");
    }

    #[test]
    fn ready_plans_accept_options() {
        for ready in READY {
            let options = source(
                &["data.scale=2000 blocks", "workload.seed=7", "sweep.repeats=2"],
                &["mysql://me@h/d"],
            );
            check(&ready.for_engine(&ENGINES.0[2]), &options);
            check(&ready.for_engine(&ENGINES.0[2]), &source(&["sweep.work_unit=16,32"], &[]));
        }
        check(&template(&ENGINES.0[0]), &source(&["sweep.sessions=1,2,4"], &[]));
    }

    #[test]
    fn axis_name_with_any_quoting_is_written_to_plan() {
        for name in ["update_pct", "'update_pct'", "\"update_pct\"", "'workload.update_pct'"] {
            let written = check(&template(&ENGINES.0[0]), &source(&[&format!("sweep.{name}=0,20")], &[]));
            assert!(written.contains("= [0, 20]"), "{name}: {written}");
        }
    }

    #[test]
    fn settings_invalid_in_a_plan_are_refused() {
        let refused =
            |set: &str| with_options("x.toml", &template(&ENGINES.0[0]), &source(&[set], &[])).is_err();
        assert!(refused("run.tiem=5s"));
        assert!(refused("run.time=soon"));
        assert!(refused("sweep.nothing=1"));
    }
}
