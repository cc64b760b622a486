"""Status 200, and a usage that counts fewer prompt tokens than were sent.

## What it says

The endpoint answered, and says in `usage.prompt_tokens` that it read clearly less than what was sent. Its usage had
counted a shorter prompt rightly before.

## Why it matters

The caller is told nothing and gets an answer to a part of what was asked. With prefill and decode apart it is worse
than that: whoever still counts with the whole length reserves pages that nothing fills, and decode can answer from what
they held before. That is the incident's second step.

## How bad

High, of medium confidence: the count is the endpoint's own word. A gateway that cuts on purpose, and says so in its
documentation, is the mild case.

## In the first hour

1. Find who cuts: ask the gateway, the router and a worker in turn with the same length. `kvfence audit` names automatic
   truncation of a worker (KVF103) and pools below their context (KVF101).
2. Switch it off, so that a prompt that is too long gets a 4xx that names both figures.
3. Look whether markers came back at that length from the part that was read. If none did, or others', see KVF705 and
   KVF701.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "probe-truncated"
CODE = "KVF704"
SEVERITY = Severity.HIGH
CONFIDENCE = Confidence.MEDIUM
FIX = "Refuse a prompt that is too long with a 4xx; switch automatic truncation off."
