//! Export and import: the views, the round trip, damage, and the ways in and out.

mod bench;
mod command;
mod damage;
mod document;
mod early;
mod history;
mod large;
mod retention;
mod round_trip;
mod routes;
