"""Manifests of one deployment in many files: a worker here, what opens, sets and shields it there."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.audit import inspect
from kvfence.facts.fact import NodeFacts
from kvfence.facts.launch.read_manifest import Manifest, read_manifests
from kvfence.facts.launch.variants import Variants
from kvfence.facts.reading import Reading
from kvfence.facts.target import read_target
from support.launch_corpus import LAUNCH

WORKER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: decode}
spec:
  template:
    metadata: {labels: {app: decode}}
    spec:
      volumes:
      - {name: scripts, configMap: {name: start}}
      containers:
      - name: s
        envFrom: [{configMapRef: {name: sizes}}]
        env:
        - {name: FRACTION, valueFrom: {configMapKeyRef: {name: sizes, key: fraction}}}
        volumeMounts: [{name: scripts, mountPath: /scripts}]
        command: COMMAND
"""
DIRECT = (
    "[python3, -m, sglang.launch_server, --model-path, /m, --disaggregation-mode, decode, --host, 0.0.0.0, "
    '--port, "30000", --tp, $(TP), --mem-fraction-static, $(FRACTION)]'
)
SCRIPTED = "[bash, /scripts/start.sh]"
SIZES = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sizes}\ndata: {TP: "8", fraction: "0.85"}\n'
START = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: start}
data:
  start.sh: |
    set -e
    python3 -m sglang.launch_server --model-path /m --disaggregation-mode decode --host 0.0.0.0 --port 30000 \\
      --tp $TP --mem-fraction-static $FRACTION
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: decode}
spec: {type: TYPE, selector: {app: decode}, ports: [{port: 80, targetPort: 30000}]}
"""
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {rules: [{http: {paths: [{backend: {service: {name: decode}}}]}}]}
"""
POLICY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: inner}
spec: {podSelector: {matchLabels: {app: decode}}, ingress: [INGRESS]}
"""
ROUTER_ONLY = "{from: [{podSelector: {matchLabels: {app: router}}}], ports: [{port: 30000}]}"


def _folder(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def _worker(command: str = DIRECT) -> str:
    return WORKER.replace("COMMAND", command)


def _decode(reading: Reading) -> NodeFacts:
    (node,) = reading.nodes
    return node


@pytest.mark.parametrize("command", [DIRECT, SCRIPTED], ids=["command", "mounted script"])
@pytest.mark.parametrize("named", [False, True], ids=["folder", "each named"])
def test_a_worker_and_its_config_map_meet_across_files(tmp_path: Path, command: str, *, named: bool):
    """Sizes from a ConfigMap of another file, with that file as their place; the script is no server of its own."""
    files = {"worker.yaml": _worker(command), "sizes.yaml": SIZES}
    files |= {"start.yaml": START} if command == SCRIPTED else {}
    folder = _folder(tmp_path, files)
    targets = [folder / name for name in files] if named else [folder]
    result = inspect(targets)
    (node,) = result.nodes
    nothing = [gap for gap in result.not_checked if "no command that starts" in gap.why or "recognised" in gap.why]
    assert all(not named and not gap.decisive and "start.yaml" not in gap.why for gap in nothing)
    assert node.name == "decode/s"
    assert (node.facts["tp_size"], node.facts["mem_fraction"], node.facts["role"]) == (8, "0.85", "decode")
    where = node.sources["tp_size"]
    assert where.line is not None
    place = Path(where.file).read_text().splitlines()[where.line - 1]
    assert ("--tp, $(TP)" if command == DIRECT else "--tp $TP") in place


@pytest.mark.parametrize(
    ("others", "way"),
    [
        ({"service.yaml": SERVICE.replace("TYPE", "LoadBalancer")}, "load balancer"),
        ({"service.yaml": SERVICE.replace("TYPE", "ClusterIP")}, None),
        ({"service.yaml": SERVICE.replace("TYPE", "ClusterIP"), "a/ingress.yaml": INGRESS}, "ingress"),
        ({"b/service.yaml": SERVICE.replace("TYPE", "NodePort"), "a/ingress.yaml": INGRESS}, "ingress"),
        ({"ingress.yaml": INGRESS}, None),
    ],
)
def test_what_opens_a_worker_may_stand_in_another_file(tmp_path: Path, others: dict[str, str], way: str | None):
    """A service, or an ingress of a third file that leads through it: found with that file and line."""
    folder = _folder(tmp_path, {"worker.yaml": _worker(), "sizes.yaml": SIZES, **others})
    result = inspect([folder])
    found = [one for one in result.findings if one.rule == "worker-reachable"]
    assert result.nodes[0].facts["published"] == way
    assert len(found) == (way is not None)
    assert all(Path(one.evidence[0].file).name in {Path(name).name for name in others} for one in found)
    assert not [gap for gap in result.not_checked if "in no file that was read" in gap.why]


@pytest.mark.parametrize(
    ("rules", "kind", "is_open"),
    [
        (ROUTER_ONLY, "LoadBalancer", False),
        ("", "LoadBalancer", False),
        ("{from: [{namespaceSelector: {}}]}", "NodePort", False),
        ("{}", "LoadBalancer", True),
        ("{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}", "LoadBalancer", True),
        (ROUTER_ONLY + ", {ports: [{port: 30000}]}", "LoadBalancer", True),
        (ROUTER_ONLY + ", {ports: [{port: 9090}]}", "LoadBalancer", False),
        (ROUTER_ONLY + ", {ports: [{port: 29000, endPort: 31000}]}", "LoadBalancer", True),
    ],
)
def test_a_network_policy_shields_a_worker_only_where_it_lets_nothing_in(
    tmp_path: Path, rules: str, kind: str, *, is_open: bool
):
    """What lets in pods alone ends the finding and is told; an address, or a rule without `from`, does not."""
    files = {"w.yaml": _worker(), "m.yaml": SIZES, "s.yaml": SERVICE.replace("TYPE", kind)}
    folder = _folder(tmp_path, {**files, "p.yaml": POLICY.replace("INGRESS", rules)})
    result = inspect([folder])
    assert bool([one for one in result.findings if one.rule == "worker-reachable"]) == is_open
    told = [gap for gap in result.not_checked if "NetworkPolicy inner" in gap.why]
    assert [gap.decisive for gap in told] == ([] if is_open else [False])


@pytest.mark.parametrize(
    ("rules", "is_open"),
    [
        (ROUTER_ONLY, False),
        ("{from: [{podSelector: {}}]}", True),
        ("{from: [{namespaceSelector: {matchLabels: {name: ingress}}, podSelector: {matchLabels: {a: b}}}]}", True),
    ],
)
def test_a_gateway_may_be_a_pod(tmp_path: Path, rules: str, *, is_open: bool):
    """Behind an ingress a policy closes only where it names other pods than a gateway's could be."""
    files = {"w.yaml": _worker(), "m.yaml": SIZES, "s.yaml": SERVICE.replace("TYPE", "ClusterIP"), "i.yaml": INGRESS}
    folder = _folder(tmp_path, {**files, "p.yaml": POLICY.replace("INGRESS", rules)})
    assert bool([one for one in inspect([folder]).findings if one.rule == "worker-reachable"]) == is_open


def test_variants_of_a_deployment_do_not_meet(tmp_path: Path):
    """Staging's load balancer opens no worker of production; what stands above both belongs to both."""
    lines = {"staging": ("LoadBalancer", '"2"'), "production": ("ClusterIP", '"8"')}
    files = {"common/ingress.yaml": SIZES}
    for name, (kind, tp) in lines.items():
        files |= {
            f"overlays/{name}/worker.yaml": _worker().replace("$(TP)", tp),
            f"overlays/{name}/service.yaml": SERVICE.replace("TYPE", kind),
        }
    nodes = read_target(str(_folder(tmp_path, files))).nodes
    told = {node.number("tp_size"): (node.text("published"), node.text("mem_fraction")) for node in nodes}
    assert told == {2: ("load balancer", "0.85"), 8: (None, "0.85")}


def test_of_two_maps_that_differ_neither_is_taken(tmp_path: Path):
    """`sizes` in two files that both may be meant: the flag is not known."""
    other = SIZES.replace('"8"', '"4"')
    folder = _folder(tmp_path, {"w.yaml": _worker(), "a.yaml": SIZES, "b.yaml": other})
    reading = read_target(str(folder))
    assert _decode(reading).fact("tp_size") is None
    assert any("--tp-size $(TP)" in gap for gap in reading.gaps)


def test_namespaces_that_differ_do_not_meet(tmp_path: Path):
    """A service selects pods of its own namespace."""
    other = SERVICE.replace("TYPE", "LoadBalancer").replace("{name: decode}", "{name: decode, namespace: b}", 1)
    worker = _worker().replace("metadata: {name: decode}", "metadata: {name: decode, namespace: a}", 1)
    reading = read_target(str(_folder(tmp_path, {"w.yaml": worker, "s.yaml": other})))
    assert _decode(reading).fact("published") is None
    assert any("in no file that was read" in gap for gap in reading.gaps)


def test_a_settings_file_may_be_mounted_from_a_map(tmp_path: Path):
    """`--config /scripts/c.yaml`, where the ConfigMap of another file holds it."""
    command = "[vllm, serve, /m, --config, /scripts/c.yaml]"
    start = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: start}\ndata:\n  c.yaml: |\n    max-model-len: 4096\n"
    reading = read_target(str(_folder(tmp_path, {"w.yaml": _worker(command), "m.yaml": start})))
    assert _decode(reading).number("context_length") == 4096


def test_a_broken_manifest_keeps_no_other_from_being_read(tmp_path: Path):
    """It is a gap with its name; the rest meets all the same."""
    files = {"w.yaml": _worker(), "m.yaml": SIZES, "broken.yaml": "a: [1,\n- }\n"}
    reading = read_target(str(_folder(tmp_path, files)))
    assert _decode(reading).number("tp_size") == 8
    assert any("broken.yaml" in gap for gap in reading.gaps)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("kustomization.yaml", "resources: [w.yaml]\npatches: [{path: p.yaml}]\n", "kubectl kustomize"),
        ("kustomization.yaml", "resources: [w.yaml]\n", None),
        ("compose.override.yml", "services: {a: {ports: ['30000:30000']}}\n", "docker compose config"),
        ("compose.yaml", "services:\n  a:\n    extends: {file: b.yaml, service: c}\n", "line 3: service a extends"),
    ],
)
def test_what_others_put_together_first_is_asked_for(tmp_path: Path, name: str, text: str, told: str | None):
    """Overlays and overrides change what the files say, so the files alone leave something open."""
    gaps = " ".join(read_target(str(_folder(tmp_path, {"w.yaml": _worker(), "m.yaml": SIZES, name: text}))).gaps)
    assert (told in gaps) if told else gaps == ""


DOCUMENTS = [_worker(), SIZES, START, SERVICE.replace("TYPE", "NodePort"), INGRESS, POLICY.replace("INGRESS", "{}")]


@given(
    st.permutations(
        [*DOCUMENTS, *(path.read_text("utf-8") for path in LAUNCH if path.name == "sglang-statefulset.yaml")]
    ),
    st.sets(st.integers(1, 6)),
)
@settings(max_examples=40, deadline=None)
def test_how_documents_are_put_into_files_changes_no_fact(documents: list[str], cuts: set[int]):
    """One file of all documents, or any files of some of them: the same values, each at the line where it stands."""

    def read(files: list[list[str]]) -> dict[str, dict[str, object]]:
        manifests = [
            Manifest("---\n".join(file), f"{at}.yaml", None, "unnamed") for at, file in enumerate(files) if file
        ]
        readings = [one for one in read_manifests(manifests) if isinstance(one, Reading)]
        texts = {manifest.file: manifest.text.splitlines() for manifest in manifests}
        found = {node.name: node for reading in readings for node in reading.nodes}
        return {
            name: {
                key: (fact.value, texts[fact.seen.file][(fact.seen.line or 0) - 1]) for key, fact in node.facts.items()
            }
            for name, node in found.items()
        }

    edges = [0, *sorted(cuts), len(documents)]
    split = [documents[start:end] for start, end in pairwise(edges)]
    assert read(split) == read([documents])


parts = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)


@given(st.lists(parts, min_size=2, max_size=6, unique=True), st.data())
def test_who_meets_is_mutual_and_two_of_one_object_never_do(paths: list[str], data: st.DataObject):
    """Whatever lies where: two files with the same object do not meet, and a file without any meets its folder."""
    held = [data.draw(st.sets(st.integers(0, 3), max_size=2)) for _path in paths]
    variants = Variants.of(paths, held)
    for path, objects in zip(paths, held, strict=True):
        assert variants.meet(path, path)
        for other, others in zip(paths, held, strict=True):
            assert variants.meet(path, other) == variants.meet(other, path)
            below = other.startswith(f"{path}/") or path.startswith(f"{other}/")
            assert path == other or below or not (objects & others) or not variants.meet(path, other)
