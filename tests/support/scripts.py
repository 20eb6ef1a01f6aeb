"""Scripts for servers in a process of their own."""

greeting = ["hello"]
