"""Whether KV goes both ways is read from settings that say so, or that are whole and do not; and from nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.facts.two_way_kv import configured, printed
from support.audit_logs import only_node
from support.launch_corpus import written

LOG = (
    "(APIServer pid=1) INFO 12-02 22:34:48 [api_utils.py:286] non-default args: {{'model': '/m', 'kv_transfer_config': "
    "KVTransferConfig(kv_connector='NixlConnector', kv_role='kv_producer', {extra}, kv_load_failure_policy='fail')}}\n"
)
LAUNCH = "vllm serve /m --kv-transfer-config '{}'\n"


@pytest.mark.parametrize(
    ("extra", "value"),
    [
        ("kv_connector_extra_config={}", False),
        ("kv_connector_extra_config={'backends': {'a': ['UCX']}}", False),
        ("kv_connector_extra_config={'bidirectional_kv_xfer': True}", True),
        ("kv_connector_extra_config={'bidirectional_kv_xfer': False}", False),
        ("kv_connector_extra_config={'connectors': [{'x': {'bidirectional_kv_xfer': True}}]}", True),
        ("kv_connector_extra_config={'bidirectional_kv_xfer': 'maybe'}", None),
        ("kv_rank=None", None),
    ],
)
def test_a_log_says_it(tmp_path: Path, extra: str, value: bool | None):
    """Set, or absent from a whole extra config, which is off."""
    fact = only_node(tmp_path, LOG.format(extra=extra)).fact("kv_two_ways")
    assert (fact.value if fact else None) is value


def test_a_line_that_ends_in_the_middle_says_nothing():
    """What comes behind the cut may set it."""
    line = LOG.format(extra="kv_connector_extra_config={'backends': {'a': 1}, 'bidirectional_kv_xfer': True}")
    whole = line.index("True}") + len("True")
    for cut in range(line.index("kv_connector_extra_config"), whole):
        assert printed(line[:cut]) is None


@pytest.mark.parametrize(
    ("extra", "value"),
    [
        (None, False),
        ({"backends": ["UCX"]}, False),
        ({"bidirectional_kv_xfer": True}, True),
        ({"bidirectional_kv_xfer": False}, False),
        ({"connectors": [{"kv_connector_extra_config": {"bidirectional_kv_xfer": True}}]}, True),
        ({"bidirectional_kv_xfer": "yes"}, None),
        ("$EXTRA", None),
    ],
)
def test_a_launch_command_says_it(tmp_path: Path, extra: object, value: bool | None):
    """The same of `--kv-transfer-config`; a variable in it leaves it open."""
    config = {"kv_connector": "NixlConnector", "kv_role": "kv_producer"}
    config |= {} if extra is None else {"kv_connector_extra_config": extra}  # type: ignore[dict-item]  # as it is written
    (node,) = written(tmp_path, LAUNCH.format(json.dumps(config)), "run.sh").nodes
    fact = node.fact("kv_two_ways")
    assert (fact.value if fact else None) is value


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_no_config_breaks_it(config: object):
    """Nor is it ever on where nothing sets it."""
    assert configured(config) is not True
