"""The research graph: from a question and a folder to a cited report."""
