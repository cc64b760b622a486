"""`kvfence scan` tells signs of lost context, with their scores, and they alone are no finding."""

from __future__ import annotations

import json

from support.programs import run_kvfence

STRANGER = "/ho" + "me/mkowalski/src/billing.py"


def record(name, prompt, answer, tokens, **changes):
    return {
        "id": name,
        "created": "2026-08-28T10:00:00Z",
        "user": "acme",
        "model": "GLM-5.3",
        "status": 200,
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"message": {"content": answer}}], "usage": {"prompt_tokens": tokens}},
    } | changes


def test_signs_are_told_and_are_no_finding(tmp_path):
    """A placeholder's count, a stranger's home and a prompt over an audit's limit; not what is right or outside."""
    log, audit = tmp_path / "log.jsonl", tmp_path / "audit.json"
    long = "Please read this line of the file. " * 200
    records = [
        record("right", "Where is my file?", "I cannot know.", 6),
        record("counted as one", long, "Done.", 1),
        record("session", "Fix the test.", f"I edited {STRANGER} for you.", 5),
        record("too long", long, "Done.", 1700),
        record("refused", long, "", 1, status=400),
        record("outside", "Fix the test.", f"I edited {STRANGER} for you.", 5, model="other"),
    ]
    log.write_text("".join(json.dumps(one) + "\n" for one in records))
    audit.write_text(json.dumps({"nodes": [{"facts": {"usable_length": 1600}}]}))
    ran = run_kvfence("scan", str(log), "--model", "glm", "--audit", str(audit), "--format", "json")
    report = json.loads(ran.out)
    told = {(sign["request_id"], sign["kind"]) for sign in report["signs"]}
    assert told >= {("counted as one", "usage-disagrees"), ("session", "stranger-paths"), ("too long", "past-limit")}
    assert {name for name, _ in told} == {"counted as one", "session", "too long"}
    assert all(0.5 <= sign["score"] <= 1 for sign in report["signs"])
    assert (ran.code, report["verdict"]) == (3, "unknown")
    assert "mkowalski" not in ran.out + ran.err
    assert "signs of lost context" in ran.err
