"""A test format of lit: `lanescope check` over a file of expectations."""

import os

import lit.formats
import lit.Test
import lit.util


class Scope(lit.formats.FileBasedTest):
    """Exit status 2, an expectation that cannot be checked, is an unresolved test."""

    def execute(self, test, lit_config):
        program = os.environ.get("LANESCOPE", "lanescope")
        out, err, status = lit.util.executeCommand([program, "check", test.getSourcePath()])
        results = {0: lit.Test.PASS, 1: lit.Test.FAIL}
        return results.get(status, lit.Test.UNRESOLVED), out + err
