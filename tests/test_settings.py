"""What a setting may be."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mmmem.settings import Settings

NUMBERS = sorted(name for name, field in Settings.model_fields.items() if field.annotation is float)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e400"])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_setting_is_a_finite_number(name, value, monkeypatch):
    monkeypatch.setenv(f"MMMEM_{name.upper()}", value)
    with pytest.raises(ValidationError, match=name):
        Settings()
