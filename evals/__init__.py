"""Placeholder door."""
