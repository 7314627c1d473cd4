//! The web server: pages and an HTTP API over a repository, and jobs that start runs.
//!
//! Every view is a page that works without scripts, and the same content is available as JSON under
//! `/api/v1`. A job is a child process, `dyno run …` as a user would type it, that appends its events to a
//! file. So a job survives the page, the server, and its restart. The server is never involved in an
//! operation of a run.
//!
//! | file | job |
//! | --- | --- |
//! | `setup`, `error`, `targets`, `listed_host` | the options of a server, and the errors that prevent its start |
//! | `server`, `tls`, `connection` | listens, limits connections, and stops |
//! | `token`, `users`, `roles`, `sessions`, `hosts`, `guard` | decides who may request what, and sets the headers of answers |
//! | `action_log`, `private_file` | the action log, and files that only the server's user can access |
//! | `state`, `store`, `facts`, `cards` | state shared by requests: the repository, and cached summaries |
//! | `jobs` | the jobs: their queue, processes and events |
//! | `order`, `allowed`, `commands` | turns a form into a plan, refuses what a page may not set, and asks users to confirm commands |
//! | `pages` | the pages, one file for each view |
//! | `api` | the same content as JSON, and the OpenAPI document |
//! | `assets` | styles and scripts |

mod action_log;
mod allowed;
mod api;
mod assets;
mod card_chart;
#[cfg(test)]
mod card_tests;
mod card_words;
mod cards;
mod commands;
mod connection;
mod error;
mod facts;
mod guard;
mod hosts;
mod jobs;
mod listed_host;
mod order;
mod pages;
mod private_file;
mod reply;
mod roles;
mod routes;
mod server;
mod sessions;
mod setup;
mod state;
mod store;
mod targets;
mod tls;
mod token;
mod users;

pub use api::openapi::document as openapi;
pub use connection::ConnectionLimits;
pub use error::ServeError;
pub use roles::UserRole;
pub use server::{Running, start};
pub use setup::{ReadyWorkload, Setup, TlsFiles};
pub use targets::{NamedTarget, ServeTargetList};
pub use users::{add_token, remove_token};
