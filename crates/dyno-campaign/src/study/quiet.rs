//! What a study passes on of what its loads and runs tell: all but what is told once of a whole campaign, or again and again.

use dyno_engine::Secret;
use dyno_plan::TargetUrl;

use crate::error::Error;
use crate::event::{Event, Listener, LoadEvent};

/// Passes events on to the listener of the study.
pub(super) struct Quiet<'a>(pub(super) &'a dyn Listener);

impl Listener for Quiet<'_> {
    fn event(&self, event: Event) {
        match event {
            Event::Reached | Event::Dropped(_) | Event::Locked(_) => {}
            Event::Load(LoadEvent::Done(_) | LoadEvent::SetUp(_)) => {}
            event => self.0.event(event),
        }
    }

    fn password(&self, url: &TargetUrl) -> Result<Option<Secret>, Error> {
        self.0.password(url)
    }

    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error> {
        self.0.allows(commands)
    }

    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error> {
        self.0.allows_writes(url, ways)
    }
}
