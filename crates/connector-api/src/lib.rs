//! The contract of a connector and the HTTP toolkit they share.
