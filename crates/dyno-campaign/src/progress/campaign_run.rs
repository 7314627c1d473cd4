//! A run of a campaign: its place and its result.

use schemars::JsonSchema;
use serde::Serialize;

use super::event::{CampaignStep, RunResult};

/// The place and result of a run of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "JobStepShown")]
pub struct CampaignRun {
    /// Number of the run, counted from 1.
    pub number: u32,
    /// The run's settings as pairs of key and value.
    pub settings: Vec<(String, String)>,
    /// Number of this run among those of its point, from 1.
    pub repeat: u32,
    /// The side of an A/B test; absent otherwise.
    pub side: Option<String>,
    /// The result of the run; absent if it has none.
    pub run: Option<RunResult>,
    /// Why there is no result; absent if there is one.
    pub failed: Option<String>,
    /// Number of the point, from 1, in the order of settings; 0 if unknown.
    #[serde(skip)]
    pub point: u32,
    /// Whether the user skipped the run's point.
    #[serde(skip)]
    pub skipped: bool,
}

impl From<&CampaignStep> for CampaignRun {
    fn from(step: &CampaignStep) -> Self {
        Self {
            number: step.number,
            settings: step.settings.clone(),
            repeat: step.repeat,
            side: step.side.clone(),
            point: step.point,
            ..Self::default()
        }
    }
}
