"""A prompt that fits into the declared context is refused.

## What it says

The endpoint lists a context, or was said to have one, and refuses a prompt that fits into it together with its answer.
The refusal itself is honest: a 4xx, no text. A length that is only estimated counts when it is refused by more than the
estimate can be off.

## Why it matters

Clients cut their prompts by the figure that is declared, and fail. Where prefill and decode are apart, the lengths
between what is promised and what fits are those at which a refusal has leaked: one gate refuses, another has reserved.

## How bad

Medium, and certain of the fact. Nothing leaked at that length in this run.

## In the first hour

Nobody need be woken. `kvfence audit` the workers: pool below context (KVF101), asymmetric pools (KVF102) or a router
that advertises more than a worker takes (KVF106) is the usual cause. Declare what was answered rightly, or give the KV
pool room; then probe again. If the same endpoint leaks at other lengths, KVF701 comes first.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "probe-limit-overstated"
CODE = "KVF706"
SEVERITY = Severity.MEDIUM
CONFIDENCE = Confidence.HIGH
FIX = "Declare the context that is usable, or give the KV pool room for the one that is declared."
