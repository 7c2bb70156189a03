//! Every line of SQL of Waystation: transactions on SQLite and PostgreSQL.
