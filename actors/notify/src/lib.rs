//! Notifications (contract A 2.3, 3, 4.3, 6): what becomes of the events that actors emit, what people are told, and that it
//! reaches them.

pub mod acknowledge;
mod cast;
pub mod deliveries;
mod ending;
pub mod escalation;
pub mod fan_out;
pub mod inbox;
pub mod protocols;
mod tell;
mod telling;

pub use cast::cast;
