"""The context that is promised is longer than in the baseline.

## What it says

A node's context length has grown since the baseline was written.

## Why it matters

What is promised is now more than what was tested. Whether the pool holds it is for `kvfence audit` to say; that
somebody meant it is for whoever reads the change of the lock file.

## How bad

Medium.

## What ends it

Probe the new lengths (`kvfence probe`), then record them: `kvfence gate --write`.
"""

ID = "promise-above-baseline"
CODE = "KVF612"
