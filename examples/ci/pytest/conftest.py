"""Collects .scope files as tests: one test for each expectation of each dump.

LANESCOPE names the program if it is not on the PATH.
"""

import json
import os
import subprocess

import pytest


def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".scope":
        return ScopeFile.from_parent(parent, path=file_path)
    return None


class CheckError(Exception):
    """An expectation that does not hold, or that cannot be checked."""


class ScopeFile(pytest.File):
    """A file of expectations. One process checks all of its dumps."""

    def collect(self):
        program = os.environ.get("LANESCOPE", "lanescope")
        run = subprocess.run(
            [program, "check", "--format", "json", str(self.path)], capture_output=True, text=True, check=False
        )
        try:
            (checked,) = json.loads(run.stdout)["files"]
        except (ValueError, KeyError) as error:
            raise CheckError(run.stderr or run.stdout) from error
        for problem in checked["errors"]:
            line = problem["line"] or 1
            yield ScopeLine.from_parent(self, name=f"line {line}", line=line, failure=problem["problem"])
        for dump in checked["dumps"]:
            if dump["error"]:
                yield ScopeLine.from_parent(self, name=dump["dump"], line=1, failure=dump["error"])
            for line in dump["lines"]:
                name = f"{dump['dump']}:{line['line']} {line['text'].strip()}"
                yield ScopeLine.from_parent(self, name=name, line=line["line"], failure=reason(dump, line))


def reason(dump, line):
    """The text of a failure; None if the expectation holds."""
    verdict = line["verdict"]
    if verdict["result"] == "holds":
        return None
    if verdict["result"] == "not_checked":
        return f"cannot be checked: {verdict['problem']}"
    return f"expected {verdict['expected']}, got {verdict['found']}\n{dump['sentence'] or ''}"


class ScopeLine(pytest.Item):
    """An expectation about a dump."""

    def __init__(self, *, line, failure, **arguments):
        super().__init__(**arguments)
        self.line = line
        self.failure = failure

    def runtest(self):
        if self.failure:
            raise CheckError(self.failure)

    def repr_failure(self, excinfo, style=None):
        return f"{self.path}:{self.line}: {excinfo.value}"

    def reportinfo(self):
        return self.path, self.line - 1, self.name
