"""Evals: what survives forced compaction, measured.

This version has no suite yet: goal drift, needle recovery and replay are specified and come next. The
package is here so that its place in the layers is fixed and tested. Nothing is exported until a suite
runs for real.
"""

__all__: list[str] = []
