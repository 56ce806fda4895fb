"""What the tests of the house share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forja_site.files import Files


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """An empty home and an empty workspace."""
    return Files(tmp_path)
