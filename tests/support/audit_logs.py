"""The corpus of logs, and the wrappings that collectors put around them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kvfence.audit import inspect
from kvfence.facts.anchors import Anchors
from kvfence.facts.fact import NodeFacts
from kvfence.facts.reading import Reading
from kvfence.facts.target import read_target
from kvfence.findings.deployment import AuditResult

CORPUS = Path(__file__).parent.parent / "corpus"
LOGS = sorted((CORPUS / "logs").glob("*.txt"))
INCIDENT = CORPUS / "incident"
_NAMES = {"version": "engine_version", "context_len": "context_length", "mode": "role"}

CELL_START = (
    "kvfence cell start: engine=kvfence-cell engine_version=0.1.0 role={role} worker={role}-0 rules={rules} "
    "pool_tokens={pool} context_length=1536 page_size=16 usable_tokens={pool} kv_dtype=float32 tp_size=1 "
    "checks={checks}"
)
HEADLINE = (
    "[2026-06-28 15:16:45{rank}] max_total_num_tokens={pool}, chunked_prefill_size=8192, max_prefill_tokens=16384, "
    "max_running_requests=33, context_len={context}, available_gpu_mem=17.22 GB"
)

UNIFIED = "python -m sglang.launch_server --model-path /models/one"
"""A command without --disaggregation-mode: one server for both halves."""


def header_facts(log: Path) -> dict[str, str]:
    """What the header of a corpus log says, under the names that the report uses."""
    header = next(line for line in log.read_text("utf-8").splitlines() if line.startswith("# facts:"))
    pairs = (pair.strip().split("=", 1) for pair in header.removeprefix("# facts:").split(","))
    return {_NAMES.get(name, name): value for name, value in pairs}


def body(log: Path) -> bytes:
    """A corpus log without its header."""
    lines = log.read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith((b"# source:", b"# facts:", b"# note:")))


def lines_found(anchors: Anchors, content: bytes) -> list[int]:
    """Where the lines begin in which the search for stems finds one."""
    hits = (at for at in anchors.suspects(content) if anchors.is_hit(content, at))
    return sorted({content.rfind(b"\n", 0, at) + 1 for at in hits})


def reading(folder: Path, content: bytes | str, name: str = "node.log") -> Reading:
    """What is read from a file of that content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_target(str(path))


def only_node(folder: Path, content: bytes | str) -> NodeFacts:
    """The one node of a file of that content."""
    (node,) = reading(folder, content).nodes
    return node


def values(node: NodeFacts) -> dict[str, str | int | bool]:
    """The facts' values."""
    return {name: fact.value for name, fact in node.facts.items()}


def audited(folder: Path, *contents: str) -> AuditResult:
    """The audit of files of these contents, as one deployment."""
    paths = []
    for index, content in enumerate(contents):
        path = folder / f"node{index}.log"
        path.write_text(content + "\n", "utf-8")
        paths.append(path)
    return inspect(paths)


@dataclass(frozen=True, slots=True)
class Wrapping:
    """How a collector writes a line, and the node's name that it gives."""

    name: str
    node: str | None
    wrap: Callable[[str], str]


def _cri(line: str) -> str:
    """As containerd writes it: pieces of 16 KiB, all but the last marked as partial."""
    stamp = "2026-12-01T10:00:00.123456789Z stdout"
    pieces = [line[start : start + 16_384] for start in range(0, len(line), 16_384)] or [""]
    return "\n".join([*(f"{stamp} P {piece}" for piece in pieces[:-1]), f"{stamp} F {pieces[-1]}"])


def _json_file(line: str) -> str:
    """As docker's json-file driver writes it: pieces of 16 KiB, only the last with its newline."""
    pieces = [line[start : start + 16_384] for start in range(0, len(line), 16_384)] or [""]
    texts = [*pieces[:-1], pieces[-1] + "\n"]
    stamp = "2026-12-01T10:00:00.123456789Z"
    return "\n".join(
        json.dumps({"log": text, "stream": "stderr", "time": stamp}, separators=(",", ":")) for text in texts
    )


def _entry(**fields: object) -> Callable[[str], str]:
    """As a logger or a collector writes it in JSON; `HERE` in a field is where the line goes."""

    def wrap(line: str) -> str:
        return json.dumps(fields).replace('"MESSAGE HERE"', json.dumps(line))

    return wrap


HERE = "MESSAGE HERE"
WRAPPINGS = (
    Wrapping("bare", None, lambda line: line),
    Wrapping("crlf", None, lambda line: line + "\r"),
    Wrapping("colour", None, lambda line: f"\x1b[32m{line}\x1b[0m"),
    Wrapping("kubectl-timestamps", None, lambda line: f"2026-12-01T10:00:00.123456789Z {line}"),
    Wrapping(
        "kubectl-prefix",
        "sglang-prefill-0",
        lambda line: f"[pod/sglang-prefill-0/server] 2026-12-01T10:00:00.123456789Z {line}",
    ),
    Wrapping("cri", None, _cri),
    Wrapping("docker-json-file", None, _json_file),
    Wrapping("compose", "prefill-1", lambda line: f"prefill-1  | {line}"),
    Wrapping("compose-colour", "prefill-1", lambda line: f"\x1b[36mprefill-1  | \x1b[0m{line}"),
    Wrapping("journald", "gpu-node-7", lambda line: f"Dec 01 10:00:00 gpu-node-7 python3[4973]: {line}"),
    Wrapping(
        "journald-iso", "gpu-node-7", lambda line: f"2026-12-01T10:00:00+0000 gpu-node-7 sglang-prefill[4973]: {line}"
    ),
    Wrapping("python-json-logger", None, _entry(asctime="2026-12-01 10:00:00,1", levelname="INFO", message=HERE)),
    Wrapping("structlog", None, _entry(timestamp="2026-12-01T10:00:00Z", level="info", event=HERE)),
    Wrapping("fluent-bit", "prefill-0", _entry(log=HERE, stream="stderr", kubernetes={"pod_name": "prefill-0"})),
    Wrapping("vector", "prefill-0", _entry(message=HERE, source_type="file", kubernetes={"pod_name": "prefill-0"})),
    Wrapping("loki-json", "prefill-0", _entry(labels={"pod": "prefill-0", "app": "x"}, line=HERE, timestamp="1")),
    Wrapping("elastic", "prefill-0", _entry(_source={"message": HERE, "kubernetes": {"pod": {"name": "prefill-0"}}})),
    Wrapping("google", "prefill-0", _entry(textPayload=HERE, resource={"labels": {"pod_name": "prefill-0"}})),
    Wrapping("cloudwatch", "prefill-0", _entry(timestamp=1, message=HERE, logStreamName="prefill-0")),
    Wrapping("splunk", "gpu-7", _entry(result={"_raw": HERE, "host": "gpu-7"})),
    Wrapping("journald-json", "gpu-7", _entry(MESSAGE=HERE, _HOSTNAME="gpu-7", PRIORITY="6")),
    Wrapping("open-telemetry", "prefill-0", _entry(body={"stringValue": HERE}, resource={"k8s.pod.name": "prefill-0"})),
    Wrapping("loki-text", "prefill-0", lambda line: f'2026-12-01T10:00:00Z {{app="x", pod="prefill-0"}} {line}'),
    Wrapping(
        "fluentd-text",
        None,
        lambda line: f"2026-12-01 10:00:00.000 +0000 kube.var.log: {json.dumps({'log': line, 'stream': 'stderr'})}",
    ),
)


def wrapped(text: str, wrapping: Wrapping) -> str:
    """Every line of a log as that collector writes it."""
    return "\n".join(wrapping.wrap(line) for line in text.splitlines()) + "\n"
