"""An answer in past traffic shows a sign that its prompt was not what the model read.

## What it says

Status 200, and something that is seen where context was lost: another language than the prompt's, machine paths or
addresses that stand nowhere in it, a prompt of thousands of words that was counted as one token. Each sign has a score:
how often such a sign was right on a labelled set.

## Why it matters

Foreign text that no other request in the logs has cannot be proved by comparing. The sign is what is left of it. In the
incident a long prompt was swapped for one token, and the answer was made from other requests' pages.

## How bad

Medium, of low confidence: evidence, never proof. Models change their language and make up paths by themselves. Many
signs at lengths past one border are the server; a few over all lengths are the model.

## In the first hour

1. Sort the signs by the length of their prompts: a border shows a pool or a limit.
2. `kvfence audit` the workers: it names the length at which prompts are refused inside.
3. Read the few with the highest scores, with the leave of those whose they are.
4. `kvfence probe` at the lengths on both sides of the border proves what logs cannot.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "scan-lost-context"
CODE = "KVF803"
SEVERITY = Severity.MEDIUM
CONFIDENCE = Confidence.LOW
FIX = "Look whether the signs begin at one length of prompt; `kvfence audit` the workers, and `kvfence probe` there."
