//! Pages and an HTTP API over a repository, and runs that are started from them.
//!
//! Every view is a page that a browser shows without scripts, and the same as JSON under `/api/v1`. What runs is a child process,
//! `dyno run …` as somebody would type it, that appends its events to a file; so it survives the page, the server, and a
//! restart of it, and nothing of the server is on the way of an operation.
//!
//! | file | job |
//! | --- | --- |
//! | `setup`, `error`, `targets`, `listed_host` | what a server is told when it starts, and what can go wrong then |
//! | `server`, `tls`, `connection` | listening, what a connection may take, and ending |
//! | `token`, `users`, `roles`, `sessions`, `hosts`, `guard` | who may ask for what, and what every answer carries |
//! | `action_log`, `private_file` | the log of what was asked, and files that nobody else may touch |
//! | `state`, `store`, `facts`, `cards` | what requests share: the repository, summaries that are remembered |
//! | `jobs` | what was started here: its queue, its children, its events |
//! | `order`, `allowed`, `commands` | from a form to a plan, what a page may not ask for, and what somebody has to agree to |
//! | `pages` | one file for each view |
//! | `api` | the same as JSON, and its OpenAPI document |
//! | `assets` | style and scripts |

mod action_log;
mod allowed;
mod api;
mod assets;
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
pub use targets::{NamedTarget, Targets};
pub use users::{add_token, remove_token};
