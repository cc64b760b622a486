"""A secret stood in an exposed request, or in an answer to somebody else: rotate it.

## What it says

A key, a token, a private key or a connection string was recognised by its form in a prompt that was asked about, or in
an answer that is not its owner's. It is named by its kind, a redacted value and a fingerprint: a keyed hash, by which
who has the key of the scan finds the value again. The value itself is in no report.

## Why it matters

Text that was shown to somebody else is over; a secret in it still opens a door. Whoever was shown it need not be the
one who notices.

## How bad

Critical where it stood in an answer to somebody else. High where it stood in a request that may have been exposed:
nobody was seen to get it, and nobody can say that no one did.

## In the first hour

1. Rotate those first that somebody else was shown: they come first in the list that `--rotation` writes.
2. Revoke, and do not only replace: the old value must stop working.
3. Look into the logs of what the secret opens, from the time at which it was first seen.
4. Ask whose it is where the owner is not known: the list names the requests.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "scan-secret"
CODE = "KVF802"
SEVERITY = Severity.HIGH
CONFIDENCE = Confidence.MEDIUM
FIX = "Revoke it and make a new one; look from its first sight on into the logs of what it opens."
