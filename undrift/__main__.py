"""`python -m undrift`: the command line."""

from importlib import import_module

# The command line is a program and no public name, so it is not taken through the package's door.
import_module(".cli", "orchestrator").main()
