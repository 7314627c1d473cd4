//! The pages, one file for each view; each shows the same content as its path under `/api/v1`.

pub(crate) mod awr;
pub(crate) mod awr_diff;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod form;
pub(crate) mod frame;
pub(crate) mod history;
pub(crate) mod home;
pub(crate) mod job_status;
pub(crate) mod jobs;
pub(crate) mod live;
pub(crate) mod login;
pub(crate) mod new;
pub(crate) mod report;
