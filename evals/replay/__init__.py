"""Replay: recorded runs, cut, compacted by a policy, and asked what is still there."""
