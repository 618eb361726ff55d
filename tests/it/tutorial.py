"""Writes the arrays of docs/tutorial.md to the working directory, with the program on that page."""

import pathlib
import re

page = pathlib.Path(__file__).parents[2] / "docs/tutorial.md"
exec(re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[1])
