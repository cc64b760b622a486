"""A KV pool, or a limit that follows from it, is smaller than in the baseline.

## What it says

The pool, the usable length, or the longest input that a node takes has shrunk by more than `--tolerance`, or the pool
has fallen below the context that it held before. The finding names both figures and what else changed on the node.

## Why it matters

A pool is what memory is left over, not a setting: another quantisation, another parallelism, CUDA graphs or a new
release of the engine each change it, and nobody decides it. This is how a model that was served for months came to
promise 1,048,576 tokens over a pool of 681,280.

## How bad

High.

## What ends it

Undo what changed, or promise less; where the smaller pool is meant, record it: `kvfence gate --write`.
"""

ID = "pool-below-baseline"
CODE = "KVF611"
