//! Links through the hub's own door, against a service that does exactly what a test says.
mod expiry;
mod hooks;
mod operations;
mod past;
mod secrets;
mod service;
mod shared;
mod streaming;
mod taking;
mod world;
