//! A seeded part of the simulation.
