"""Status 200, and markers of the prompt that did not come back.

## What it says

The answer is sane, and some or all of the markers that were asked for are not in it. It was seen at least twice at one
length, while the short control came back whole.

## Why it matters

A prompt that was swapped for a placeholder, cut, or computed over pages that were cleared is answered like this: no
foreign text, and no answer to what was asked. With the incident's layers half on, this is what is left of it.

## How bad

High, of medium confidence. Models forget: the longer the prompt, and the smaller the model, the more. What tells them
apart is the border. A model fades over many lengths and depths; a server loses everything from one length on.

## In the first hour

1. Look at the map of recall by length and depth. All markers gone past one length: the server. A few depths, more with
   length: the model, which is then no use for a probe at those lengths; take the largest that the endpoint has.
2. Ask again with `--repeats 10` either side of where it turns (`--lengths`).
3. `kvfence audit` the logs and addresses of all workers at once: it tells whether that length is a pool's.
4. Where it is the server, promise no more than the longest clean length until it is mended.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "probe-lost"
CODE = "KVF705"
SEVERITY = Severity.HIGH
CONFIDENCE = Confidence.MEDIUM
FIX = (
    "Until the cause is known, promise no more than the longest prompt that was answered rightly; "
    "where another length is clean, it is the server and not the model: `kvfence audit` the workers."
)
