//! Issue tracking (contract B 2.1 to 2.4): the query language, workflows, the clocks of service desks, and what else is decided
//! about issues without asking anybody.

pub mod access;
pub mod agenda;
pub mod approval;
pub mod boards;
pub mod booking;
pub mod builtin;
pub mod bulk;
pub mod closing;
pub mod family;
pub mod filter;
pub mod issue;
pub mod jql;
pub mod key;
pub mod label;
pub mod limits;
pub mod mailing;
pub mod mention;
pub mod parts;
pub mod places;
pub mod portal;
pub mod rank;
pub mod settings;
pub mod sla;
pub mod space;
pub mod transfer;
pub mod workflow;
