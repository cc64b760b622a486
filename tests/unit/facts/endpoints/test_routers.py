"""A router's workers: one hop, bounded, without the key."""

from __future__ import annotations

import socket
from contextlib import ExitStack

from kvfence.audit import inspect
from kvfence.facts.endpoints.fetch import Access
from kvfence.facts.endpoints.read_endpoint import read_endpoint
from support.audit_logs import INCIDENT
from support.endpoint_servers import Server, as_json, engine, sglang, vllm
from support.programs import tcp_server, wait_until

PATIENT = Access(api_key="sk-hunter2hunter2", page_s=30.0, target_s=60.0)


def _listing(server: Server, *urls: str) -> None:
    server.pages["/list_workers"] = as_json({"urls": list(urls)})


def test_a_routers_workers_are_asked_without_its_key():
    """Each worker is a node, the reading says which were asked, and the key stays with the server that was named."""
    with ExitStack() as stack:
        workers = [stack.enter_context(engine(sglang(f"0.5.19-{role}"))) for role in ("prefill", "decode")]
        router = stack.enter_context(engine({}))
        _listing(router, *(f"{worker.url}@0" for worker in workers))
        reading = read_endpoint(router.url, PATIENT)
        assert {key for worker in workers for key in worker.keys} == {""}
        assert set(router.keys) == {"Bearer sk-hunter2hunter2"}
    assert [node.text("role") for node in reading.nodes] == ["prefill", "decode"]
    assert all(worker.url in reading.notes[0] for worker in workers)
    assert reading.gaps == ()


def test_the_routers_word_for_a_role_is_taken_where_the_worker_has_none():
    """VLLM does not tell its role; the router's list does."""
    with engine(vllm('block_size="16",num_gpu_blocks="8"')) as worker, engine({}) as router:
        router.pages["/workers"] = as_json({"workers": [{"id": "w", "url": worker.url, "worker_type": "prefill"}]})
        (node,) = read_endpoint(router.url, PATIENT).nodes
    assert node.text("role") == "prefill"
    assert node.facts["role"].seen.file == f"{router.url}/workers"


def test_a_router_its_workers_and_their_logs_are_one_node_for_each_worker():
    """What SGLang's router 0.3.2 lists, named beside the workers themselves and what one of them printed."""
    with engine(sglang("0.5.19-prefill")) as prefill, engine(sglang("0.5.19-decode")) as decode, engine({}) as router:
        router.pages["/workers"] = as_json(
            {
                "workers": [
                    {"id": "52d806a5-4d5f-4123-9ebf-86428868fc66", "url": worker.url, "worker_type": role}
                    for role, worker in (("decode", decode), ("prefill", prefill))
                ],
                "total": 2,
            }
        )
        log = str(INCIDENT / "sglang-0.5.19-prefill.log")
        result = inspect([router.url, prefill.url, decode.url, log], access=PATIENT)
    assert sorted(node.name for node in result.nodes) == sorted(
        [f"sglang-0.5.19-prefill ({prefill.name})", decode.name]
    )


def test_a_router_that_names_itself_ends():
    """A list that names its own router, or another router, is one hop and no more."""
    with engine({}) as other, engine({}) as router:
        _listing(other, router.url)
        _listing(router, router.url, other.url + "/")
        reading = read_endpoint(router.url, PATIENT)
        assert len(other.asked) == len(set(other.asked))
    assert reading.nodes == ()
    assert "it lists itself as a worker" in reading.gaps
    assert any("is a router as well" in gap for gap in reading.gaps)


def test_no_address_of_another_kind_is_asked():
    """Another scheme, a cloud's metadata address, a name with a password, no address at all: told and left out."""
    with engine({}) as router:
        _listing(router, "grpc://w:1", "https://w:1", "http://169.254.169.254/", "http://u:hunter2@w:1", "\0", "")
        reading = read_endpoint(router.url, PATIENT)
    assert reading.nodes == ()
    assert any("link-local" in gap for gap in reading.gaps)
    assert any("over https" in gap for gap in reading.gaps)
    assert "hunter2" not in repr(reading)


def test_a_long_list_is_cut_and_said_so():
    """No more than the bound are asked, whatever a router lists."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with engine({}) as router:
        _listing(router, *(f"http://127.0.0.1:{port}/w{number}" for number in range(40)))
        reading = read_endpoint(router.url, PATIENT)
    assert sum("no connection" in gap for gap in reading.gaps) == 32
    assert any("8 were left out" in gap for gap in reading.gaps)


def test_workers_that_hang_keep_no_connection_from_the_others():
    """Twelve that answer nothing before the last has been asked: it is read all the same."""
    with ExitStack() as stack:
        worker, router = (stack.enter_context(engine(pages)) for pages in (sglang("0.5.19-prefill"), {}))

        def waits(_connection: socket.socket) -> None:
            wait_until(lambda: bool(worker.asked), within_s=60)

        hanging = [stack.enter_context(tcp_server(waits)).removesuffix("/v1") for _ in range(12)]
        _listing(router, *hanging, worker.url)
        reading = read_endpoint(router.url, PATIENT)
    assert [node.text("role") for node in reading.nodes] == ["prefill"]
    assert len(reading.gaps) == 12
