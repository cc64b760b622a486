"""Status 200, and markers that are changed, made up, or out of order.

## What it says

What came back looks like markers and is not what was asked for: characters differ, two were mixed, the order is wrong,
or they are of an earlier prompt of the same tenant. It was seen at least twice at one length.

## Why it matters

The pages that attention read are not those of this prompt: partly another's, partly of an older request of the same
tenant, or damaged on their way. Nothing of another tenant was seen, and what mixes one tenant's requests can mix two
tenants'.

## How bad

High, of medium confidence. A small model garbles by itself. It did not at the short control. Markers of an earlier
prompt of the same tenant are the strongest sign: they stand nowhere in the prompt that was asked.

## In the first hour

1. Ask again with `--repeats 10` at that length and at the longest clean one, and with `--depths 16`: where within the
   prompt it breaks shows as a border in the map of recall. At the multiple of a page or a chunk it is the serving.
2. `kvfence audit` the logs and addresses of all workers at once: layouts, page sizes and checks that differ between
   prefill and decode are named.
3. Where quantised KV, speculative decoding or prefix reuse was switched on lately, ask again without it.
4. If markers of earlier prompts came back, treat it as a leak (KVF701): stop those lengths, keep logs.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "probe-garbled"
CODE = "KVF703"
SEVERITY = Severity.HIGH
CONFIDENCE = Confidence.MEDIUM
FIX = (
    "Until the cause is known, promise no more than the longest prompt that was answered rightly; "
    "`kvfence audit` the workers behind it, and ask again with --repeats 10."
)
