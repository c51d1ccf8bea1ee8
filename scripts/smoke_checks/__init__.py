"""The checks of scripts/smoke.py, by what they look at. None of them knows mmmem but by HTTP."""
