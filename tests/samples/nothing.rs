//! Nothing is built here: the packages are fetched for the samples they carry.
