"""Ranking. Pure: arrays in, scores and orders out; numpy only, no I/O, no clock, no state."""
