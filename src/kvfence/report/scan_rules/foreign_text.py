"""An answer in past traffic has a stretch of text that stands in another request and not in its own prompt.

## What it says

A stretch of the answer is, character by character, text of an earlier prompt or answer of somebody else. It does not
stand in the answer's own prompt, and few others have it: what many tenants share (system prompts, licences, popular
code) is left out. The finding names both requests, the length, where it begins in each, and the time between them.

## Why it matters

It happened, and here are the answers. Status, usage and speed look right when it does: in the incident behind kvfence
155 answers went out so in two weeks, and a caller noticed, not a test.

## How bad

Critical where the two are of different tenants. High where they are of one, or where the log does not say whose they
are. The score is how surprising it is that the two share the stretch; where several requests have it, whose it is
cannot be told apart, and the finding says how many.

## In the first hour

1. **Stop it.** `kvfence audit` the workers, and refuse prompts over the length that it names.
2. **Keep.** Copy the logs to where nothing rotates them; `--trail` notes what was read, by its hash.
3. **Rotate.** The secrets of `--rotation`, those first that stood in an answer to somebody else.
4. **Tell.** `--format markdown` writes a letter in figures, without any text; `--letter-for` one to a tenant.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "scan-foreign-text"
CODE = "KVF801"
SEVERITY = Severity.CRITICAL
CONFIDENCE = Confidence.HIGH
FIX = (
    "Stop what serves prompts of such lengths, keep the logs, rotate what stood in both requests, and tell whose text "
    "it is; `kvfence explain KVF801` has the whole first hour."
)
