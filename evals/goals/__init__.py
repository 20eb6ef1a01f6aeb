"""Goal success of finished runs: goal, constraints and plan against what happened, read from the log."""
