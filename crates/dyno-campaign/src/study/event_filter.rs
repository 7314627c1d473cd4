//! Filters the events of a study's loads and runs: drops those that would be repeated for each leg.

use dyno_engine::Secret;
use dyno_plan::TargetUrl;

use crate::error::Error;
use crate::event::{CampaignEvent, Listener, LoadEvent};

/// Forwards the remaining events to the listener of the study.
pub(super) struct FilteredStudyListener<'a>(pub(super) &'a dyn Listener);

impl Listener for FilteredStudyListener<'_> {
    fn event(&self, event: CampaignEvent) {
        match event {
            CampaignEvent::Reached | CampaignEvent::Dropped(_) | CampaignEvent::Locked(_) => {}
            CampaignEvent::Load(LoadEvent::Done(_) | LoadEvent::SetUp(_)) => {}
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
