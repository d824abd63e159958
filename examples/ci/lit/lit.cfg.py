"""A test for each .scope file below this folder. LANESCOPE names the program if it is not on the PATH."""

import os
import sys

# lit sends the format to its workers, which import it by the name of its module.
sys.path.insert(0, os.path.dirname(__file__))
import scope_format

config.name = "crashes"
config.suffixes = [".scope"]
config.test_format = scope_format.Scope()
