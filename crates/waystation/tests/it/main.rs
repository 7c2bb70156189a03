//! What the program promises to people and clients, through its public edges alone.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod agent_programs;
mod agentd;
mod agents;
mod approvals;
mod audit;
mod auth;
mod authority;
mod backup;
mod bad_requests;
mod chat_server;
mod chats;
mod claude_hooks;
mod cli;
mod client_certificates;
mod colours;
mod config;
mod connect;
mod database;
mod database_tls;
mod disk;
mod doctor;
mod fair;
mod first_start;
mod greetings;
mod guard;
mod health;
mod hook_kill;
mod host;
mod http;
mod import;
mod injection;
mod kill;
mod link;
mod listen;
mod lost_owner;
mod manual;
mod middle;
mod owner;
mod pages;
mod program;
mod prompts;
mod rest;
mod review;
mod run;
mod secrets;
mod sending;
mod session_layers;
mod signals;
mod stand_in;
mod start_again;
mod stdio;
mod terminal_safety;
mod trace;
mod trail_files;
mod wake_kill;
mod work;
