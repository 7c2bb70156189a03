//! `WhatsApp`: chats that people export from the app.

pub mod export;
