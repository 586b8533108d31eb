//! The classifiers that need no client: errors of real sockets and files.

mod combine;
mod io;
mod real;
