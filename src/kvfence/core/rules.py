"""Which layers of the fence are on, and what engines did before they had them.

A rule set is a value that every side of a room is given. The historical ones run the same machines as `FENCED`: only
which checks are made, and what becomes of a prompt that is too long, differ. Sources: SGLang's wheels 0.5.10 to
0.5.23 and the public threads named beside each.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """One check that alone stops some faults. The numbers are the invariants'."""

    ADMISSION = "I1"
    """A prompt that does not fit is refused at the door, by a type; the limit advertised is the one measured (I7)."""
    COUNT = "I2-count"
    """As many pages and tokens as were reserved and offered, in the same room and epochs."""
    DIGEST = "I2-digest"
    """Digests of what is in the pool now equal the manifest's."""
    WRITER_FENCE = "I3"
    """A stale write is refused or, where the wire cannot refuse, waited out."""
    READER_FENCE = "I4"
    """A pull that ended under another epoch than it began is discarded."""
    CLEAN_PAGES = "I5"
    """Slots behind the filled length are not read, and a page that changes tenant is cleared."""


class OverLong(StrEnum):
    """What a prefill worker without I1 does with a prompt that does not fit."""

    PLACEHOLDER = "placeholder"
    """Swap it for one token, run that, send it on (SGLang up to 0.5.19)."""
    RETIRE_AFTER_FORWARD = "retire-after-forward"
    """Run the one token, then notice the verdict; send nothing and tell only the client (SGLang 0.5.20)."""
    TRUNCATE = "truncate"
    """Each role cuts it to what it can hold itself, and goes on (SGLang's `--allow-auto-truncate`)."""


class GivenUp(StrEnum):
    """What a decode worker without I3 does with pages that it gives up while a write may be on its way to them."""

    FREED_AT_ONCE = "freed-at-once"
    """Hand them on (SGLang up to 0.5.20)."""
    FREED_IN_TIME = "freed-in-time"
    """Ask prefill and wait for its acknowledgement, but not for ever: then hand them on (SGLang from 0.5.21)."""
    FREED_BY_ANY_ACK = "freed-by-any-ack"
    """Wait, and take a late acknowledgement of an earlier room for this room's own (SGLang 0.5.21)."""


class Reference(StrEnum):
    """Who brings decode the manifest, which says that all is there and where it lies.

    No machine reads this: decode takes a manifest for the room that it comes for, and I2 holds it against that room. It
    says what a caller may try; in the cell nobody but prefill can bring one.
    """

    FROM_PREFILL = "from-prefill"
    """Prefill alone, over the workers' own connection."""
    USED_AGAIN = "used-again"
    """The caller, who may bring one that was made for another request (vLLM's `kv_transfer_params`)."""
    MADE_UP = "made-up"
    """The caller, who may write one himself."""


class Wire(StrEnum):
    """How pages travel, which decides who can refuse what."""

    PUSH = "push"
    """Prefill writes into decode's memory; decode cannot refuse a write (one-sided RDMA)."""
    TWO_SIDED = "two-sided"
    """Pages come in messages that name their epoch; decode applies or drops them."""
    PULL = "pull"
    """Decode reads from prefill's memory; prefill cannot see when (a lease that may run out)."""


ALL_LAYERS = frozenset(Layer)


@dataclass(frozen=True, slots=True)
class Rules:
    """A named set of layers, and what was done instead of those that are off."""

    name: str
    layers: frozenset[Layer]
    over_long: OverLong = OverLong.PLACEHOLDER
    """Read only where I1 is off."""
    given_up: GivenUp = GivenUp.FREED_AT_ONCE
    """Read only where I3 is off."""
    reference: Reference = Reference.FROM_PREFILL
    wire: Wire = Wire.PUSH
    """On which it was seen in the field."""

    def has(self, layer: Layer) -> bool:
        """Whether `layer` is on."""
        return layer in self.layers

    @property
    def truncates(self) -> bool:
        """Whether a role cuts a prompt that is too long to what it can hold itself."""
        return self.over_long is OverLong.TRUNCATE and not self.has(Layer.ADMISSION)

    @property
    def drains(self) -> bool:
        """Whether pages that are given up wait for a writer at all."""
        return self.has(Layer.WRITER_FENCE) or self.given_up is not GivenUp.FREED_AT_ONCE

    @property
    def drains_in_time(self) -> bool:
        """Whether they wait no longer than for a time, whatever the writer does."""
        return self.given_up is GivenUp.FREED_IN_TIME and not self.has(Layer.WRITER_FENCE)

    @property
    def takes_any_ack(self) -> bool:
        """Whether an acknowledgement of a room that is over counts for another that drains."""
        return self.given_up is GivenUp.FREED_BY_ANY_ACK and not self.has(Layer.WRITER_FENCE)

    @property
    def checks(self) -> str:
        """The layers as start-up lines print them."""
        return ",".join(sorted(self.layers)) or "none"


FENCED = Rules("fenced", ALL_LAYERS)
PLACEHOLDER = Rules("placeholder", frozenset())
"""sgl-project/sglang#30233, #30325, #35421: status 200 and another request's text."""
RETIRE_AFTER_FORWARD = Rules("retire-after-forward", frozenset(), OverLong.RETIRE_AFTER_FORWARD)
"""SGLang 0.5.20 (#36988): no leak, but decode is never told and holds its pages until a time-out."""
TRUNCATE = Rules("truncate", frozenset(), OverLong.TRUNCATE)
"""SGLang 0.5.10 to 0.5.23 with `--allow-auto-truncate` and unequal pools, run on 0.5.23: status 200 from both roles,
`prompt_tokens` 122 at prefill and 225 at decode, and the last tenant's text. No version compares the two lengths."""
NO_DRAIN = Rules("no-drain", frozenset({Layer.ADMISSION}))
"""sgl-project/sglang#24527: pages freed at an abort while a remote write is in flight."""
DRAIN_TIMEOUT = Rules("drain-timeout", frozenset({Layer.ADMISSION}), given_up=GivenUp.FREED_IN_TIME)
"""SGLang 0.5.21 to 0.5.23 (#38961): pages given up wait, but after 30 s without an acknowledgement no longer."""
STALE_ACK = Rules("stale-ack", frozenset({Layer.ADMISSION}), given_up=GivenUp.FREED_BY_ANY_ACK)
"""SGLang 0.5.21 (#38961): an acknowledgement did not say which use of a room number it was for, and a late one of an
earlier room released the pages of the next. From 0.5.22 on it carries a generation, as core's rooms are never used
twice."""
LEASE_EXPIRY = Rules("lease-expiry", frozenset({Layer.ADMISSION}), wire=Wire.PULL)
"""aws-samples/aws-do-eks#84, vllm-project/vllm#47021: a pull from blocks whose lease ran out, status 200."""
REUSED_REFERENCE = Rules(
    "reused-reference", frozenset({Layer.ADMISSION}), reference=Reference.USED_AGAIN, wire=Wire.PULL
)
"""vllm-project/vllm#52234 (0.29.0, NIXL): a reference brought once more, for another prompt: status 200 and the answer
to the earlier prompt."""
FORGED_REFERENCE = Rules("forged-reference", frozenset({Layer.ADMISSION}), reference=Reference.MADE_UP, wire=Wire.PULL)
"""vLLM 0.32.0 with NixlConnector, run: block ids of another tenant in the body, or of blocks that nobody wrote: status
200. With too few its decode engine dies of an assertion; core's machine reads on, into what the last one left."""
CLIENT_BOOTSTRAP = Rules("client-bootstrap", frozenset({Layer.ADMISSION}), reference=Reference.MADE_UP)
"""SGLang 0.5.19 and 0.5.23, run: a client that reaches decode names the host of the warm-up requests as its prefill,
decode takes the transfer for done, and answers over pages that nobody has written for it."""

NAMED = {
    rules.name: rules
    for rules in (
        *(FENCED, PLACEHOLDER, RETIRE_AFTER_FORWARD, TRUNCATE, NO_DRAIN, DRAIN_TIMEOUT, STALE_ACK, LEASE_EXPIRY),
        *(REUSED_REFERENCE, FORGED_REFERENCE, CLIENT_BOOTSTRAP),
    )
}
"""Every rule set that a user can name."""


def natural_wire(rules: Rules) -> Wire:
    """The wire on which a named rule set was seen in the field."""
    return rules.wire


def only(*layers: Layer) -> Rules:
    """Nothing but `layers`: what the ablation runs."""
    return Rules("only-" + "-".join(layers) if layers else "no-layers", frozenset(layers))
