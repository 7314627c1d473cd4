//! Those who watch a command by other means: a monitoring system that scrapes, one that is told.

use std::sync::{Mutex, PoisonError};

use dyno_campaign::Event;
use dyno_metrics::{Annotator, Metrics, MetricsAccess, PostError, ServeMetricsError, Server};
use dyno_record::private_file::open_secret_warning;

use crate::cli::Common;
use crate::exit::usage;
use crate::talk::Talk;

/// Holds the token of a service account of Grafana.
const TOKEN_ENV: &str = "DYNO_GRAFANA_TOKEN";

/// Who may read the metrics, as options and environment say.
fn metrics_access(common: &Common) -> anyhow::Result<MetricsAccess> {
    let of_environment = std::env::var(METRICS_TOKEN_ENV).ok();
    let token = match &common.metrics_token_file {
        None => of_environment,
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                usage(format!("{} (--metrics-token-file) cannot be read: {error}", path.display()), "")
            })?;
            Some(text.lines().next().unwrap_or_default().trim().to_owned())
        }
    };
    match token {
        Some(token) if token.is_empty() && common.metrics_token_file.is_some() => {
            Err(usage("the file of --metrics-token-file has no token in its first line", ""))
        }
        token => {
            Ok(MetricsAccess { token: token.filter(|token| !token.is_empty()), open: common.metrics_open })
        }
    }
}

/// Holds the token that a scraper of `--metrics` has to send.
const METRICS_TOKEN_ENV: &str = "DYNO_METRICS_TOKEN";

/// Everybody that the options name.
#[derive(Default)]
pub(crate) struct Beside {
    metrics: Option<Metrics>,
    annotator: Option<Mutex<Annotator>>,
    #[cfg(feature = "otlp")]
    tracer: Option<Mutex<dyno_metrics::Tracer>>,
    /// What went wrong on the way, told at the end.
    trouble: Mutex<Vec<PostError>>,
}

impl Beside {
    /// Begins to listen and to send, as the options say.
    pub(crate) fn start(common: &Common, talk: &Talk) -> anyhow::Result<Self> {
        let refused = |error: PostError| usage(error.to_string(), "dyno run --help says what is meant");
        let mut beside = Self::default();
        if let Some(address) = &common.metrics {
            let metrics = Metrics::new();
            let access = metrics_access(common)?;
            let is_open = access.token.is_none();
            let file = common.metrics_token_file.as_deref();
            let warning =
                file.and_then(|file| open_secret_warning("the token file of --metrics-token-file", file));
            warning.into_iter().for_each(|words| talk.say(&format!("warning: {words}")));
            let server = Server::start(address, metrics.clone(), access).map_err(|error| match error {
                ServeMetricsError::Open(_) => usage(
                    format!("--metrics: {error}"),
                    "give --metrics-token-file FILE or DYNO_METRICS_TOKEN; --metrics-open serves them to everyone",
                ),
                ServeMetricsError::Io(error) => usage(
                    format!("--metrics {address}: nobody can listen there: {error}"),
                    "give an address and a free port, such as 127.0.0.1:9750, or :9750 for this machine alone",
                ),
            })?;
            talk.say(&format!("metrics at http://{}/metrics", server.address()));
            if is_open && !server.address().ip().is_loopback() {
                talk.say("warning: everyone who reaches this address reads the metrics (--metrics-open)");
            }
            beside.metrics = Some(metrics);
        }
        if let Some(url) = &common.annotate {
            let token = std::env::var(TOKEN_ENV).ok().filter(|token| !token.is_empty());
            beside.annotator = Some(Mutex::new(Annotator::start(url, token).map_err(refused)?));
        }
        #[cfg(feature = "otlp")]
        if let Some(url) = &common.otlp {
            beside.tracer = Some(Mutex::new(dyno_metrics::Tracer::start(url).map_err(refused)?));
        }
        Ok(beside)
    }

    /// Something has happened.
    pub(crate) fn hear(&self, event: &Event) {
        if let Some(metrics) = &self.metrics {
            metrics.hear(event);
        }
        if let Some(annotator) = &self.annotator {
            self.note(locked(annotator).hear(event));
        }
        #[cfg(feature = "otlp")]
        if let Some(tracer) = &self.tracer {
            self.note(locked(tracer).hear(event));
        }
    }

    fn note(&self, sent: Result<(), PostError>) {
        locked(&self.trouble).extend(sent.err());
    }

    /// Waits for what is still to be sent, for a bounded time, and tells what did not arrive: the runs are stored all the same.
    pub(crate) fn finish(&self, talk: &Talk) {
        let mut trouble = std::mem::take(&mut *locked(&self.trouble));
        if let Some(annotator) = &self.annotator {
            trouble.extend(locked(annotator).finish());
        }
        #[cfg(feature = "otlp")]
        if let Some(tracer) = &self.tracer {
            trouble.extend(locked(tracer).finish());
        }
        for error in trouble {
            talk.say(&format!("warning: not sent: {error}"));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
