//! Reads a job request from the fields of a form.

use super::{FieldError, JobRequest, field_error, listed};
use crate::jobs::JobKind;

impl JobRequest {
    /// Reads a job request from the fields of a form.
    pub(crate) fn of_form(fields: &[(String, String)]) -> Result<Self, FieldError> {
        let mut order = Self { load: false, quick: false, ..Self::default() };
        for (name, value) in fields {
            let value = value.trim().replace("\r\n", "\n");
            match name.as_str() {
                "kind" => {
                    order.kind = JobKind::from_name(&value)
                        .ok_or_else(|| field_error("kind", "unknown kind of job", ""))?;
                }
                "target" => order.target = value,
                "ready" => order.ready = value,
                "workload" => order.workload = value,
                "load" => order.load = true,
                "variant" => order.variant = value,
                "tags" => order.tags = listed(&value, ','),
                "limits" => order.limits = listed(&value, '\n'),
                "over" => order.over = value,
                "max" => order.max = value,
                "groups" => order.groups = listed(&value, ','),
                "tests" => order.tests = listed(&value, ','),
                "time" => order.time = value,
                "a" => order.a = value,
                "b" => order.b = value,
                "pairs" => {
                    order.pairs =
                        value.parse().map_err(|_| field_error("pairs", "not an integer", "1 to 1,000"))?;
                }
                "settings" => order.settings = listed(&value, '\n'),
                "settings_restart" => order.settings_restart = value,
                "quick" => order.quick = true,
                "watch_for" => order.watch_for = value,
                "parts" => order.parts.push(value),
                "proof" => order.proof = value,
                "kill_command" => order.kill_command = value,
                "restart_command" => order.restart_command = value,
                "study" => order.study = value,
                "params" => {
                    for line in listed(&value, '\n') {
                        let (name, value) = line.split_once('=').ok_or_else(|| {
                            field_error("params", format!("{line:?} is not a parameter"), "size = 4G")
                        })?;
                        order.params.insert(name.trim().to_owned(), value.trim().to_owned());
                    }
                }
                "on_target" => order.on_target = true,
                "confirmed" => order.confirmed = value,
                "axes" => {
                    for line in listed(&value, '\n') {
                        let (key, value) = line.split_once('=').ok_or_else(|| {
                            field_error("axes", format!("{line:?} is not an axis"), "sessions = 1, 2, 4, 8")
                        })?;
                        order.set.insert(format!("sweep.{}", key.trim()), value.trim().to_owned());
                    }
                }
                "do" => {}
                name => match name.strip_prefix("set.") {
                    Some(key) if !value.is_empty() => {
                        order.set.insert(key.to_owned(), value);
                    }
                    Some(_) => {}
                    None => return Err(field_error("", format!("unknown field {name:?}"), "")),
                },
            }
        }
        Ok(order)
    }
}
