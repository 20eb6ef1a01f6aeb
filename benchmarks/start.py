"""CPU seconds of starting up: `undrift --help`, and process start to the first model request.

    python benchmarks/start.py [--repeat 7]

Printed beside `python -c pass` and beside importing LangGraph's graphs alone, each in a process of its own.
The first request goes to a server on loopback that answers with an error, which ends the run: what is
measured is everything up to that request and a little after it. Documents are indexed before.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Refuse(BaseHTTPRequestHandler):
    """Answers every request with an error that is not worth a retry."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"error": {"message": "benchmark"}}'
        self.send_response(401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the table is the output."""


def cpu_of(command: list[str]) -> float:
    """User and system seconds of one finished process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuse)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    undrift = [sys.executable, "-m", "undrift"]
    os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as name:
        docs, runs = Path(name) / "docs", Path(name) / "runs"
        docs.mkdir()
        (docs / "a.md").write_text("# A\n\nThe valve opens at 11 degrees.\n")
        first = [
            "research",
            "When does it open?",
            "--docs",
            str(docs),
            "--out",
            str(runs),
            "--quiet",
        ]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "undrift --help": [*undrift, "--help"],
            "import langgraph.graph": [sys.executable, "-c", "import langgraph.graph"],
            "to the first request": [*undrift, *first, "--model", "openai:m"],
        }
        times: dict[str, list[float]] = {what: [] for what in commands}
        for number in range(repeat + 1):
            for what, command in commands.items():
                spent = cpu_of(command)
                if number:
                    times[what].append(spent)
    server.shutdown()
    base = times["import langgraph.graph"]
    print(f"median of {repeat}: CPU seconds, and ratio to importing langgraph.graph")
    for what, values in times.items():
        ratio = statistics.median(v / b for v, b in zip(values, base, strict=True))
        print(f"  {what:24} {statistics.median(values):6.2f} s   x {ratio:5.2f}")


if __name__ == "__main__":
    main()
