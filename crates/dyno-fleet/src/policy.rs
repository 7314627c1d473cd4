//! What an agent allows controllers to do: which databases they may use from here, with which secrets, and
//! where they may write.
//!
//! The list belongs to the agent. Names of variables and files in a received plan are never used.

use std::path::PathBuf;

use dyno_plan::{Plan, TargetUrl};

/// What an agent allows controllers to do.
#[derive(Debug, Clone)]
pub enum AgentPolicy {
    /// Allows all requests; for a network without untrusted users.
    Anything,
    /// Allows only the targets of this list.
    Listed(Vec<AllowedTarget>),
}

/// A database that controllers may use from this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedTarget {
    /// URL of the database. `*` as user, host or database matches any value; parameters must match exactly.
    pub url: TargetUrl,
    /// Whether runs may change data in this database.
    pub writes: bool,
    /// The environment variable of this host that holds the password.
    pub password_env: Option<String>,
    /// The file of this host whose first line is the password.
    pub password_file: Option<PathBuf>,
}

impl AllowedTarget {
    fn matches(&self, url: &TargetUrl) -> bool {
        let part = |allowed: Option<&str>, url: Option<&str>| allowed == Some("*") || allowed == url;
        let allowed = &self.url;
        allowed.scheme == url.scheme
            && allowed.is_file == url.is_file
            && allowed.port == url.port
            && part(allowed.user.as_deref(), url.user.as_deref())
            && part(allowed.host.as_deref(), url.host.as_deref())
            // A file must match exactly: `*` would open every file of the host.
            && (allowed.path == url.path || (!url.is_file && allowed.path == "*"))
            && (url.params.is_empty() || allowed.params == url.params)
    }
}

impl AgentPolicy {
    /// Replaces the connection settings of the plan's targets with those of the agent's list. Returns whether
    /// runs may write there.
    ///
    /// # Errors
    /// A target is not in the list, or two of them have different passwords.
    pub(crate) fn admit(&self, plan: &mut Plan) -> Result<bool, String> {
        // Hooks and other hosts belong to the controller; an agent ignores them.
        plan.hooks = dyno_plan::HookSettings::default();
        plan.observe.hosts = Vec::new();
        let Self::Listed(list) = self else { return Ok(true) };
        let mut entries: Vec<&AllowedTarget> = Vec::new();
        for url in plan.target.all() {
            let allowed = list.iter().find(|allowed| allowed.matches(url));
            entries.push(
                allowed.ok_or_else(|| format!("{url} is not in this agent's list of targets (--config)"))?,
            );
        }
        let secret = |allowed: &AllowedTarget| (allowed.password_env.clone(), allowed.password_file.clone());
        let first = entries.first().map(|allowed| secret(allowed)).unwrap_or_default();
        if entries.iter().any(|allowed| secret(allowed) != first) {
            return Err("targets of one run have different passwords in this agent's list".to_owned());
        }
        plan.target.password_env = first.0;
        plan.target.password_file = first.1.map(|file| file.display().to_string());
        let writes = entries.iter().all(|allowed| allowed.writes);
        // Parameters of URLs can name files, so only the agent's own are used.
        let params: Vec<_> = entries.iter().map(|allowed| allowed.url.params.clone()).collect();
        plan.target.observe_url = None;
        plan.target.url.params.clone_from(&params[0]);
        plan.target.urls.iter_mut().zip(params).for_each(|(url, params)| url.params = params);
        Ok(writes)
    }
}

#[cfg(test)]
mod tests {
    use dyno_plan::{EngineSpec, Engines, PlanSource, engine::UrlForm};

    use super::*;

    const ENGINES: Engines =
        Engines(&[EngineSpec::plain("postgres", UrlForm::Server, "postgres://dyno@db1/bench")]);

    fn url(text: &str) -> TargetUrl {
        TargetUrl::read(text, ENGINES).unwrap()
    }

    fn plan(target: &str, sets: &[&str]) -> Plan {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        let source = PlanSource { target: Some(target.to_owned()), sets, ..PlanSource::of(ENGINES) };
        dyno_plan::read(&source).unwrap()
    }

    fn listed(text: &str, writes: bool) -> AgentPolicy {
        let password_env = Some("SHOP".to_owned());
        AgentPolicy::Listed(vec![AllowedTarget { url: url(text), writes, password_env, password_file: None }])
    }

    #[test]
    fn agent_admits_only_listed_targets() {
        let admits =
            |allowed: &str, target: &str| listed(allowed, true).admit(&mut plan(target, &[])).is_ok();
        let exact = "postgres://dyno@db1:5432/bench";
        assert!(admits(exact, exact));
        for other in [
            "postgres://root@db1:5432/bench",
            "postgres://dyno@db2:5432/bench",
            "postgres://dyno@db1:5433/bench",
            "postgres://dyno@db1/bench",
            "postgres://dyno@db1:5432/other",
            "postgres://dyno@db1:5432/bench2",
            "postgres://dyno@db1.evil.example:5432/bench",
            "postgres://dyno@db1:5432/bench?sslmode=disable",
        ] {
            assert!(!admits(exact, other), "{other}");
        }
        assert!(admits("postgres://dyno@db1/*", "postgres://dyno@db1/any"));
        assert!(!admits("postgres://dyno@db1/*", "postgres://dyno@db2/any"));
        assert!(AgentPolicy::Listed(Vec::new()).admit(&mut plan(exact, &[])).is_err());
    }

    #[test]
    fn agent_uses_its_own_secrets_and_parameters() {
        let target = "postgres://dyno@db1/bench";
        let mut plan = plan(target, &["target.password_file=/etc/shadow", "hooks.pre=id"]);
        let writes = listed("postgres://dyno@db1/bench?sslmode=require", false).admit(&mut plan).unwrap();
        assert!(!writes);
        assert_eq!(plan.target.password_file, None);
        assert_eq!(plan.target.password_env.as_deref(), Some("SHOP"));
        assert_eq!(plan.target.url.param("sslmode"), Some("require"));
        assert!(plan.hooks.pre.is_none());
    }
}
