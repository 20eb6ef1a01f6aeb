"""Goal drift: whether rules, goals and open steps still steer an agent after its context was compacted."""
