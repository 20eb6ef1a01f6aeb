"""Needle recovery: a value shown once, hidden from the model, and asked for exactly."""
