"""`python -m mmmem` is `mmmem`."""

from mmmem.cli import app

app(prog_name="mmmem")
