"""Compose files and manifests beyond the corpus: environments, ports, anchors, templates, hostile YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.errors import TargetError
from kvfence.facts.launch.yaml_tree import Mapping, read_yaml
from support.launch_corpus import only_values, written

SERVER = "python3 -m sglang.launch_server --model-path /m --host 0.0.0.0 --port 30000"
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p, labels: {{app: p}}}}
spec:
  containers:
  - name: s
    command: [python3, -m, sglang.launch_server, --model-path, /m, --host, 0.0.0.0, --port, "30000", {more}]
    env:
    - {{name: TP, value: "4"}}
    - {{name: PORTS, value: "$(TP)0"}}
    - {{name: SECRET, valueFrom: {{secretKeyRef: {{name: s}}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: svc}}
spec:
  type: {type}
  selector: {{app: {app}}}
  ports: [{{port: 80, targetPort: {port}}}]
"""


def _compose(service: str) -> str:
    return "services:\n  worker:\n" + "".join(f"    {line}\n" for line in service.splitlines())


@pytest.mark.parametrize(
    ("service", "tp"),
    [
        (f"command: {SERVER} --tp ${{TP:-4}}", 4),
        (f"command: >\n  {SERVER}\n  --tp 4", 4),
        ("command: [python3, -m, sglang.launch_server, --tp, '4']", 4),
        ("entrypoint: [python3, -m, sglang.launch_server]\ncommand: --tp 4", 4),
        (f"environment: {{TP: 4}}\ncommand: sh -c '{SERVER} --tp $$TP'", 4),
        (f"environment: [TP=4]\ncommand: sh -c '{SERVER} --tp $$TP'", 4),
        (f"env_file: there.env\ncommand: sh -c '{SERVER} --tp $$TP'", 4),
        (f"env_file: [{{path: gone.env}}]\ncommand: sh -c '{SERVER} --tp $$TP'", None),
        (f"command: {SERVER} --tp $TP", None),
        ("image: vllm/vllm-openai:v1\ncommand: --model /m --tensor-parallel-size 4", 4),
    ],
)
def test_a_compose_service_is_read(tmp_path: Path, service: str, tp: int | None):
    """Commands as text or list, entry points, variables from the service, from a file, from outside."""
    (tmp_path / "there.env").write_text("TP=4\n")
    reading = written(tmp_path, _compose(service), "compose.yaml")
    assert only_values(reading).get("tp_size") == tp
    assert reading.nodes[0].name == "worker"
    assert any("gone.env" in gap for gap in reading.gaps) == ("gone.env" in service)


@pytest.mark.parametrize(
    ("ports", "way"),
    [
        ('ports: ["30000:30000"]', "host port"),
        ('ports: ["127.0.0.1:30000:30000"]', None),
        ('ports: ["8000:9000"]', None),
        ("ports: [{target: 30000, published: 80}]", "host port"),
        ("ports: [{target: 30000, host_ip: 127.0.0.1}]", None),
        ("network_mode: host", "host network"),
        ("restart: always", None),
    ],
)
def test_a_port_is_published_where_it_says_so(tmp_path: Path, ports: str, way: str | None):
    """On every address, to the port that the server has; not on the machine's own, nor to another port."""
    found = only_values(written(tmp_path, _compose(f"{ports}\ncommand: {SERVER}"), "compose.yaml"))
    assert found.get("published") == way


def test_an_anchor_and_a_merge_key_are_followed(tmp_path: Path):
    """What `<<` merges counts where the mapping itself says nothing, at the line where it stands."""
    base = f"x-base: &base\n  network_mode: host\n  command: {SERVER} --tp 2\n"
    services = f"services:\n  a:\n    <<: *base\n  b:\n    <<: *base\n    command: {SERVER} --tp 8\n"
    nodes = {node.name: node for node in written(tmp_path, base + services, "compose.yaml").nodes}
    assert {name: node.number("tp_size") for name, node in nodes.items()} == {"a": 2, "b": 8}
    assert {name: node.facts["tp_size"].seen.line for name, node in nodes.items()} == {"a": 3, "b": 9}
    assert {node.text("published") for node in nodes.values()} == {"host network"}


@pytest.mark.parametrize(
    ("more", "tp"), [("--tp, $(TP)", 4), ("--tp, $(PORTS)", 40), ("--tp, $$(TP)", None), ("--tp, $(SECRET)", None)]
)
def test_kubernetes_puts_variables_in(tmp_path: Path, more: str, tp: int | None):
    """`$(NAME)` from the container's environment, in its order; doubled it stays; a secret is not known."""
    text = POD.format(more=more, type="ClusterIP", app="p", port=30000)
    assert only_values(written(tmp_path, text, "pod.yaml")).get("tp_size") == tp


@pytest.mark.parametrize(
    ("kind", "app", "port", "way"),
    [
        ("LoadBalancer", "p", 30000, "load balancer"),
        ("NodePort", "p", 30000, "node port"),
        ("ClusterIP", "p", 30000, None),
        ("LoadBalancer", "other", 30000, None),
        ("LoadBalancer", "p", 9090, None),
    ],
)
def test_a_service_opens_the_port_of_the_pods_that_it_selects(
    tmp_path: Path, kind: str, app: str, port: int, way: str | None
):
    """By its type, its selector and its port."""
    text = POD.format(more="--tp, '1'", type=kind, app=app, port=port)
    reading = written(tmp_path, text, "pod.yaml")
    assert only_values(reading).get("published") == way
    assert any("selects pods that are in no file that was read" in gap for gap in reading.gaps) == (app == "other")


@pytest.mark.parametrize(
    "rules",
    [
        "kind: Ingress\nspec: {rules: [{http: {paths: [{backend: {service: {name: svc}}}]}}]}",
        "kind: HTTPRoute\nspec: {rules: [{backendRefs: [{name: svc}]}]}",
        "kind: VirtualService\nspec: {http: [{route: [{destination: {host: svc.ns.svc}}]}]}",
    ],
)
def test_a_gateway_leads_to_a_worker_through_its_service(tmp_path: Path, rules: str):
    """An ingress or a route that ends in the worker's service is the way that is told."""
    text = POD.format(more="--tp, '1'", type="NodePort", app="p", port=30000) + f"---\napiVersion: x/v1\n{rules}\n"
    assert only_values(written(tmp_path, text, "pod.yaml"))["published"] in {"ingress", "gateway route"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1, 2", "not read as YAML"),
        ("[" * 5000, "nest"),
        ("a: b\n<<<<<<< HEAD\nc: d\n", "not read as YAML"),
        ("a: \x01" + "b" * 99, "not read as YAML"),
    ],
)
def test_what_is_no_yaml_is_refused_with_one_line(tmp_path: Path, text: str, says: str):
    """Broken, too deep, half merged: one line that says so."""
    with pytest.raises(TargetError, match=says) as refusal:
        written(tmp_path, text, "x.yaml")
    assert "\n" not in str(refusal.value)


def test_an_alias_bomb_is_looked_at_to_a_limit(tmp_path: Path):
    """A billion values in a kilobyte end in a gap."""
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    assert any("too large" in gap for gap in written(tmp_path, text, "x.yaml").gaps)


def test_a_value_that_holds_itself_is_no_value():
    """An alias of what is still open gives nothing."""
    (root,) = read_yaml("a: &a {b: *a}\n", "x").roots
    assert isinstance(root, Mapping)
    assert root.text("a", "b") == ""


def test_a_tag_constructs_nothing():
    """A tag that would make an object gives its text."""
    (root,) = read_yaml("a: !!python/object/apply:os.getcwd []\nb: !x y\n", "x").roots
    assert isinstance(root, Mapping)
    assert (root.text("b"), root.items("a")) == ("y", [])


def test_documents_before_a_broken_one_stand(tmp_path: Path):
    """What was read stays, and the gap says from where on nothing was."""
    reading = written(tmp_path, f"services:\n  a:\n    command: {SERVER}\n---\n[", "compose.yaml")
    assert [node.name for node in reading.nodes] == ["a"]
    assert any("not read behind" in gap for gap in reading.gaps)


def test_a_rank_behind_the_first_is_no_server_of_its_own(tmp_path: Path):
    """Node rank 1 belongs to the server of rank 0."""
    reading = written(tmp_path, _compose(f"command: {SERVER} --nnodes 2 --node-rank 1"), "compose.yaml")
    assert reading.nodes == ()
    assert any("rank 1" in gap for gap in reading.gaps)
