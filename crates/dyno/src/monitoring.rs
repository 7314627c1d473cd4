//! Reports a running command to monitoring: Prometheus scrapes it, and Grafana and OpenTelemetry receive
//! data.

use dyno_campaign::CampaignEvent;
use dyno_metrics::{Annotator, Metrics, MetricsAccess, PostError, ServeMetricsError, Server};
use dyno_record::private_file::open_secret_warning;
use parking_lot::Mutex;

use crate::cli::CommonArgs;
use crate::console::Console;
use crate::exit::usage;

/// Variable with the token of a Grafana service account.
const TOKEN_ENV: &str = "DYNO_GRAFANA_TOKEN";

/// Who may read the metrics, from options and environment.
fn metrics_access(common: &CommonArgs) -> anyhow::Result<MetricsAccess> {
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

/// Variable with the token that a scraper of `--metrics` must send.
const METRICS_TOKEN_ENV: &str = "DYNO_METRICS_TOKEN";

/// All monitoring receivers named in the options.
#[derive(Default)]
pub(crate) struct TelemetrySinks {
    metrics: Option<Metrics>,
    annotator: Option<Mutex<Annotator>>,
    #[cfg(feature = "otlp")]
    tracer: Option<Mutex<dyno_metrics::Tracer>>,
    /// Failures on the way, reported at the end.
    send_errors: Mutex<Vec<PostError>>,
}

impl TelemetrySinks {
    /// Starts to listen and to send, according to the options.
    pub(crate) fn start(common: &CommonArgs, talk: &Console) -> anyhow::Result<Self> {
        let refused = |error: PostError| usage(error.to_string(), "see dyno run --help");
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
                    "give --metrics-token-file FILE or DYNO_METRICS_TOKEN; or serve them to everyone with \
                        --metrics-open",
                ),
                ServeMetricsError::Io(error) => usage(
                    format!("--metrics {address}: cannot listen: {error}"),
                    "give an address and a free port, such as 127.0.0.1:9750, or :9750 for this machine only",
                ),
            })?;
            talk.say(&format!("metrics at http://{}/metrics", server.address()));
            if is_open && !server.address().ip().is_loopback() {
                talk.say("warning: everyone who reaches this address can read the metrics (--metrics-open)");
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

    pub(crate) fn forward(&self, event: &CampaignEvent) {
        if let Some(metrics) = &self.metrics {
            metrics.hear(event);
        }
        if let Some(annotator) = &self.annotator {
            self.note(annotator.lock().hear(event));
        }
        #[cfg(feature = "otlp")]
        if let Some(tracer) = &self.tracer {
            self.note(tracer.lock().hear(event));
        }
    }

    fn note(&self, sent: Result<(), PostError>) {
        self.send_errors.lock().extend(sent.err());
    }

    /// Waits a bounded time for pending data and reports what did not arrive; the runs are stored anyway.
    pub(crate) fn finish(&self, talk: &Console) {
        let mut trouble = std::mem::take(&mut *self.send_errors.lock());
        if let Some(annotator) = &self.annotator {
            trouble.extend(annotator.lock().finish());
        }
        #[cfg(feature = "otlp")]
        if let Some(tracer) = &self.tracer {
            trouble.extend(tracer.lock().finish());
        }
        for error in trouble {
            talk.say(&format!("warning: not sent: {error}"));
        }
    }
}
