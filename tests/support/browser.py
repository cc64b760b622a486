"""A real Chromium, where this machine has one: what a page is once a browser has read and run it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(_BROWSER is None, reason="no Chromium on this machine")


def dom_of(page: Path) -> str:
    """The page's elements as the browser has them; its profile is made beside the page."""
    command = [str(_BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent}/profile"]
    return subprocess.run(
        [*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, check=True, timeout=90
    ).stdout
