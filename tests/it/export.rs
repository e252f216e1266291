//! Export and import: the views, the round trip, and damage.

mod bench;
mod damage;
mod document;
mod round_trip;
