//! Those who watch a command by other means: a monitoring system that scrapes, one that is told.

use std::sync::{Mutex, PoisonError};

use dyno_campaign::Event;
use dyno_metrics::{Annotator, Metrics, PostError, Server};

use crate::cli::Common;
use crate::exit::usage;
use crate::talk::Talk;

/// Holds the token of a service account of Grafana.
const TOKEN_ENV: &str = "DYNO_GRAFANA_TOKEN";

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
            let server = Server::start(address, metrics.clone()).map_err(|error| {
                usage(
                    format!("nobody can listen on --metrics {address}: {error}"),
                    "give an address and a free port, such as 127.0.0.1:9750, or :9750 for this machine alone",
                )
            })?;
            talk.say(&format!("metrics at http://{}/metrics", server.address()));
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
