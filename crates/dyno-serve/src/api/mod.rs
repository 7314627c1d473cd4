//! The content of the pages as JSON.

pub(crate) mod handlers;
pub(crate) mod openapi;
pub(crate) mod types;
