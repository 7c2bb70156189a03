//! What tests share: throw-away stores, a manual clock, running hubs.
