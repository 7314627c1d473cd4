//! Looks up parameters in the URL, then the service, then the environment, as libpq does.

use std::path::PathBuf;

use dyno_plan::TargetUrl;

use super::parameters::{self, LibpqParameter, ParameterRule};
use super::service::{self, Service};
use dyno_engine::net::Environment;
use dyno_engine::net::parameters::{ConnectionSetting, check_names};
use dyno_engine::{Secret, TargetError};

/// The parameters of one target.
pub(super) struct LibpqSettings<'a> {
    url: &'a TargetUrl,
    service: Option<Service>,
    pub(super) environment: Environment,
}

impl<'a> LibpqSettings<'a> {
    /// Reads the requested service and checks every parameter that is set.
    ///
    /// # Errors
    /// A parameter of the URL is unknown, the service cannot be read, or a value is not supported.
    pub(super) fn read(url: &'a TargetUrl, environment: Environment) -> Result<Self, TargetError> {
        check_names(url, parameters::PARAMETERS.iter().map(|parameter| parameter.name))?;
        let mut settings = Self { url, service: None, environment };
        if let Some(name) = settings.text("service") {
            let file = settings.path("servicefile");
            settings.service = Some(service::load(&name, file, environment)?);
        }
        for parameter in parameters::PARAMETERS {
            if !matches!(parameter.rule, ParameterRule::Read)
                && let Some(setting) = settings.of(parameter)
            {
                parameters::check(&setting, parameter.rule)?;
            }
        }
        Ok(settings)
    }

    fn of(&self, parameter: &'static LibpqParameter) -> Option<ConnectionSetting> {
        let LibpqParameter { name, variable, .. } = *parameter;
        if let Some(setting) = ConnectionSetting::of_url(self.url, name) {
            return Some(setting);
        }
        let setting = |value: &str, origin| Some(ConnectionSetting { name, value: value.to_owned(), origin });
        if let Some(service) = &self.service
            && let Some(value) = service.value(name).filter(|value| !value.is_empty())
        {
            return setting(value, format!(" (from {})", service.label));
        }
        let value = (!variable.is_empty()).then(|| self.environment.var(variable))??;
        setting(&value, format!(" (from the environment variable {variable})"))
    }

    /// The parameter `name`; absent if it is not set or empty.
    pub(super) fn get(&self, name: &str) -> Option<ConnectionSetting> {
        self.of(parameters::named(name).expect("`from_url` reads parameters of the table"))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|setting| setting.value)
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// The password from the service, otherwise from the environment.
    pub(super) fn password(&self) -> Option<Secret> {
        let of_service = self.service.as_ref().and_then(|service| service.password.clone());
        of_service.or_else(|| self.environment.var("PGPASSWORD").map(Secret::new))
    }

    /// Session settings from the environment, in the form that the start-up message needs.
    pub(super) fn of_session(&self) -> Vec<(&'static str, String)> {
        let value = |variable| self.environment.var(variable).filter(|v| !v.eq_ignore_ascii_case("default"));
        let settings = parameters::SESSION_SETTINGS.iter();
        settings.filter_map(|(name, variable)| Some((*name, value(variable)?))).collect()
    }
}
