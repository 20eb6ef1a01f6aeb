"""Reports of results: a page of HTML that needs nothing but itself, and a table for the terminal."""
