//! What the actor kernel promises, one module per need (docs/ARCHITECTURE.md, "The actor kernel").

mod activation;
mod back_pressure;
mod counter;
mod cpu;
mod fairness;
mod metrics;
mod operators;
mod passivation;
mod probe;
mod shutdown;
mod slow;
mod stage;
mod stale;
mod stress;
mod supervision;
mod timers;
mod together;
mod watchdog;
