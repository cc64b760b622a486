"""A secret is found again with the same key only, and the key is nobody else's."""

from __future__ import annotations

import pytest

from kvfence.errors import UsageError
from kvfence.scan.credentials.fingerprint import fingerprint, key_of


def test_a_key_is_made_once_and_for_its_owner(tmp_path):
    """Mode 0600, and the same key the next time."""
    path = tmp_path / "key"
    key = key_of(str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    assert key_of(str(path)) == key
    assert key_of(str(tmp_path / "other")) != key
    assert fingerprint(key, b"value") != fingerprint(key_of(str(tmp_path / "other")), b"value")


@pytest.mark.parametrize(
    ("content", "mode", "word"),
    [("x" * 64, 0o644, "chmod 600"), ("short", 0o600, "16 to 4,096"), ("x" * 5000, 0o600, "16 to 4,096")],
)
def test_a_key_that_cannot_serve_is_told(tmp_path, content, mode, word):
    """Others can read it, or it is no key."""
    path = tmp_path / "key"
    path.write_text(content)
    path.chmod(mode)
    with pytest.raises(UsageError, match=word):
        key_of(str(path))


def test_a_key_in_no_folder_is_told(tmp_path):
    """It cannot be made there."""
    with pytest.raises(UsageError, match="can be written"):
        key_of(str(tmp_path / "none" / "key"))
    with pytest.raises(UsageError, match="not a file"):
        key_of(str(tmp_path))
