"""Status 200, and text that the prompt gives no cause for.

## What it says

Asked to give markers back, the endpoint wrote something else: another script or language, file paths, code, or words
that are in no part of the prompt. It was seen at least twice at one length. The finding says what kind of text it was,
never the text itself, for it may be a customer's.

## Why it matters

Pages that hold another request's text seldom hold a marker of the probe: they hold what that request was about. Drift
shows before a marker does, and in the incident it was what callers saw.

## How bad

High, of medium confidence. A model can lose the thread by itself, above all near the end of its context. It did not at
the short control, and the more sharply it begins at one length, the less it is the model.

## In the first hour

1. See whether it begins at a length: the table is sorted by it. Just past a pool's size, a page's multiple or a limit
   that `kvfence audit` knows, treat it as a leak (KVF701) until it is shown to be none: stop those lengths, keep logs.
2. Ask again with `--repeats 10` at that length and at the longest clean one (`--lengths`), and with two keys
   (`--api-key-env` twice): a marker that comes back settles it.
3. `kvfence audit` the logs and addresses of all workers at once.
4. Compare with the same model on one server without prefill and decode apart, at the same length: if it recites there,
   it is the serving.
5. Answers that were kept may be somebody's text: keep them where customers' text may be, and show them to few.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "probe-off-topic"
CODE = "KVF702"
SEVERITY = Severity.HIGH
CONFIDENCE = Confidence.MEDIUM
FIX = (
    "Until the cause is known, promise no more than the longest prompt that was answered rightly; "
    "stale pages show as drift before a marker does, so `kvfence audit` the workers behind it."
)
