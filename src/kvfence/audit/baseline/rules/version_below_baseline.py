"""The engine is older than in the baseline.

## What it says

A node's log or endpoint names an older version of the same engine than the baseline does.

## Why it matters

Faults that were closed are open again. Roles of different versions are also known to let content checks be skipped.

## How bad

Medium.

## What ends it

The version of the baseline on every node, or a look at what the older one lacks and `kvfence gate --write`.
"""

ID = "version-below-baseline"
CODE = "KVF613"
