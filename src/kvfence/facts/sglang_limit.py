"""How long a prompt SGLang takes, beside its pool and its context. In tokens.

`max_req_input_len` is min(context - 1, pool - 1) - 5, and a prompt of that many tokens or more is refused: the longest
that is taken is seven below the smaller of the two. In every version read, 0.5.10 to 0.5.23
(`managers/tp_worker.py get_worker_info`).
"""

from __future__ import annotations

LIMIT_BELOW = 6
"""How far the limit is below the smaller of pool and context."""
LONGEST_BELOW = LIMIT_BELOW + 1
"""How far the longest prompt that is taken is below it."""
