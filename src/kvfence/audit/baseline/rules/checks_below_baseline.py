"""A content check or a refusal that was on in the baseline is off.

## What it says

The KV checksum, the KV canary or a check of kvfence's cell was on and is off, or prompts are now cut to a node's own
limit where they were refused.

## Why it matters

A check that goes leaves no trace: every answer still has status 200. Cutting prompts is the path on which SGLang up to
0.5.23 answers from other requests' pages.

## How bad

High.

## What ends it

Switch it on again on both roles; where it is meant, record it: `kvfence gate --write`.
"""

ID = "checks-below-baseline"
CODE = "KVF614"
