"""One digest a page of logical keys and values: docs/spec/kv-digest.md, of which this is three implementations.

`layout` says where an engine keeps what; `on_cpu` (xxHash and NumPy), `in_torch` (any device) and `in_triton` (a GPU,
each byte read once) give the same digests, whatever the layout, the placement of pages and the width of the tensor
parallelism.
"""
