"""The SQL of a registry: its schema, and all that is ever asked of it.

A prompt's markers stand in one row. Each two neighbouring groups of a marker have a row of their own, by which a marker
that came back cut is found as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import UnionType

VERSION = 1
"""Of the schema; a kvfence refuses a higher one."""
APPLICATION = 0x6B767231
"""SQLite's mark of a registry."""
SCHEMA = """
CREATE TABLE campaign (id TEXT PRIMARY KEY, seed TEXT NOT NULL, url TEXT NOT NULL, model TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE prompt (
    id INTEGER PRIMARY KEY, campaign TEXT NOT NULL, tenant TEXT NOT NULL, request INTEGER NOT NULL,
    tokens INTEGER NOT NULL, planted_ms INTEGER NOT NULL, markers TEXT NOT NULL
);
CREATE INDEX prompt_of_campaign ON prompt (campaign);
CREATE TABLE piece (piece INTEGER, prompt INTEGER, PRIMARY KEY (piece, prompt)) WITHOUT ROWID
"""
PROMPT = "INSERT OR IGNORE INTO prompt VALUES (?, ?, ?, ?, ?, ?, ?)"
PIECE = "INSERT OR IGNORE INTO piece VALUES (?, ?)"
CAMPAIGN = "INSERT OR IGNORE INTO campaign VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what each column of an answer is: a file that somebody else wrote may have anything."""

    text: str
    kinds: tuple[UnionType | type, ...]


WHOSE = Question(
    """
    SELECT DISTINCT p.tenant, p.request, p.tokens, p.planted_ms, p.markers, c.id, c.seed, c.url, c.model
    FROM piece JOIN prompt p ON p.id = piece.prompt JOIN campaign c ON c.id = p.campaign
    WHERE piece.piece IN (SELECT value FROM json_each(?)) ORDER BY p.planted_ms, p.id
    """,
    (str, int, int, int, str, str, str, str, str),
)
"""The prompts that have one of the pieces in a list."""
REQUESTS = Question("SELECT request FROM prompt WHERE campaign = ?", (int,))
CAMPAIGNS = Question("SELECT id, seed, url, model FROM campaign ORDER BY id", (str, str, str, str))
PROMPTS = Question("SELECT * FROM prompt ORDER BY id", (int, str, str, int, int, int, str))
KEPT = Question(
    """
    SELECT c.id, c.seed, c.url, c.model, count(p.id), coalesce(sum((length(p.markers) + 1) / 30), 0),
        min(nullif(p.planted_ms, 0)), max(nullif(p.planted_ms, 0))
    FROM campaign c LEFT JOIN prompt p ON p.campaign = c.id GROUP BY c.id ORDER BY 7, c.id
    """,
    (str, str, str, str, int, int, int | None, int | None),
)
"""A marker and the space behind it are 30 characters, and the last has none."""
