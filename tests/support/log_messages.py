"""Messages of the engines as their sources print them, and what each says. The versions are in `docs/log-lines.md`."""

from __future__ import annotations

from kvfence.facts.fact import Kind

LONGER = "Request length is longer than the KV cache pool size or the max context length."
ID = "8f07dfc0-a2f0"
SGLANG = [
    ("server_args=ServerArgs(page_size=64, tp_size=2)", {"set.page_size": 64, "set.tp_size": 2}),
    ("max_total_num_tokens=9, max_prefill_tokens=8, max_running_requests=7, context_len=6", {"headline.pool": 9}),
    ("KV pool holds 9 tokens, fewer than --context-length 12. One", {"warned.pool": 9, "warned.context": 12}),
    ("Use Sliding window memory pool. full_layer_tokens=9, swa_layer_tokens=7", {"swa.full": 9, "swa.window": 7}),
    ("Use sliding window memory pool (all SWA). swa_layer_tokens=7", {"swa.window": 7}),
    ("Post-capture KV sizing: full_layer_tokens=9, swa_layer_tokens=7", {"swa.full": 9, "swa.window": 7}),
    ("SWAKVPool mem usage: 1.23 GB, swa size: 7, full size: 9", {"swa.full": 9, "swa.window": 7}),
    ("DSV4 pool sizes: full=9, swa=7, c4=3, c128=2, c4_state=1, c128_state=1", {"swa.full": 9, "swa.window": 7}),
    ("DSV4 memory calculation: bytes_per_full_token=1.5, available_bytes=4.13 GB, full_token=9", {"swa.full": 9}),
    ("Initialize DeepSeekV4TokenToKVPool with max_num_reqs=4 swa_size=7 c4_size=3", {"swa.window": 7}),
    ("Mamba Cache is allocated. max_mamba_cache_size: 40, conv_state size: 0.01GB", {"mamba": 40}),
    ("KV Cache is allocated. #tokens: 9, KV size: 1.00 GB", {"allocated": 9}),
    ("KV Cache is allocated. #tokens: 9, K size: 1.00 GB, V size: 1.00 GB", {"allocated": 9}),
    ("KV Cache is allocated. dtype: torch.uint8, #tokens: 9, K size: 1.00 GB", {"allocated": 9, "dtype": "uint8"}),
    ("Draft KV cache allocated. dtype: torch.bfloat16, #tokens: 9, KV size: 1.00 GB", {"allocated": 9}),
    ("KV Cache VA upper bound. dtype: torch.bfloat16, #tokens: 9, K size: 1.00 GB", {"allocated": 9}),
    ("Using KV cache dtype: torch.float8_e4m3fn", {"dtype": "float8_e4m3fn"}),
    ("Allocating 12.50 GB host memory for hierarchical KV cache.", {"hicache.line": True}),
    ("Capture cuda graph begin. This can take up to several minutes.", {"graph.line": True}),
    ("Capture target decode CUDA graph begin. backend=full", {"graph.line": True}),
    ("KV cache is forced as chunk cache for decode server", {"role.line": "decode"}),
    ("Radix cache is disabled for decode server", {"role.line": "decode"}),
    ("EXPERIMENTAL: Radix cache is enabled for decode server", {"role.line": "decode"}),
    ("Prefill parallel info for [10.0.0.1:8998]: PrefillServerInfo(", {"role.line": "decode"}),
    ("Register prefill bootstrap: DP0 CP0 TP0 PP0 with rank_ip: 10.0.0.1", {"role.line": "prefill"}),
    ("Prefill successfully registered to bootstrap server.", {"role.line": "prefill"}),
    ("install_canary: disaggregation_mode=null config=x", {"canary.line": True}),
    (
        "[canary] step=200 protected_tokens=4096 sweep_passes=0 violations=0 launch_tags_active=2/4",
        {"canary.step": 200, "canary.protected": 4096},
    ),
    ("[canary] sweep succeeded 3 times (last_step=900)", {"canary.ran": True}),
    (f"KV checksum mismatch req={ID} bootstrap_room=7 expected=0x1 got=0x2", {"checksum.compared": True}),
    ("kv_canary violation: launch_tag=x fail_reason=verify_position", {"canary.ran": True}),
]
SGLANG_EVENTS = [
    ("Input length (12 tokens) exceeds the maximum allowed length (9 tokens). Use", Kind.REFUSED, 12, None),
    (f"Input length (12 tokens) exceeds the maximum allowed length (9 tokens)., self.rid='{ID}'", Kind.REFUSED, 12, ID),
    (f"Request {ID} exceeds the maximum number of tokens: 12 > 9", Kind.REFUSED, 12, ID),
    (f"Request {ID} requires too many SWA KV tokens for decode preallocation: 12 > 9", Kind.REFUSED, None, ID),
    (
        LONGER + " Truncated!!!",
        *(Kind.TRUNCATED, None, None),
    ),
    (
        LONGER + " Truncated. len(req.origin_input_ids)=12, max_req_input_len=9.",
        *(Kind.TRUNCATED, 12, None),
    ),
    ("Prefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0, token usage", Kind.PLACEHOLDER, None, None),
    (f"KV checksum mismatch req={ID} bootstrap_room=7 expected=0x1 got=0x2", Kind.CHECK_FAILED, None, ID),
    (f"KV checksum mismatch on a peer rank req={ID} bootstrap_room=7", Kind.CHECK_FAILED, None, ID),
    (
        f"Context corruption detected: Request {ID} (bootstrap_room=7) received metadata",
        *(Kind.CHECK_FAILED, None, ID),
    ),
    ("Metadata corruption detected: Request 7 (bootstrap_room=7)", Kind.CHECK_FAILED, None, "7"),
    (
        f"Metadata unexpectedly not ready after readiness gate: request {ID}, bootstrap_room=7",
        *(Kind.CHECK_FAILED, None, ID),
    ),
    ("kv_canary violation: launch_tag=x fail_reason=verify_position", Kind.CHECK_FAILED, None, None),
    ("KV checksum skipped: prefill layout signature 0x1 differs", Kind.UNVERIFIED, None, None),
    ("Decode x registered 7 metadata buffers but this prefill has 6; only", Kind.UNVERIFIED, None, None),
    ("kv-canary: per-forward verify skipped this step due to overflow (total=9)", Kind.UNVERIFIED, None, None),
    (
        "kv-canary: kernel_run_counter did not increase since previous check for tags=x; canary path is not executing",
        *(Kind.UNVERIFIED, None, None),
    ),
    (
        "Deferred KV release for room 77 timed out after 30.0s without a full drain ack from prefill",
        *(Kind.RELEASED_UNDRAINED, None, "room 77"),
    ),
]
VLLM = [
    ("GPU KV cache size: 9,000 tokens", {"pool": 9000}),
    (
        "GPU KV cache size: 9,000 tokens, Maximum concurrency for 2,048 tokens per request: 4.39x",
        {"pool": 9000, "context.line": 2048},
    ),
    (
        "XPU KV cache size: 9,000 tokens, Maximum concurrency for 2,048 tokens per request: 4.39x",
        {"pool": 9000, "context.line": 2048},
    ),
    (
        "GPU + host KV cache size: 9,000 tokens, Maximum concurrency for 2,048 tokens per request: 4.39x",
        {"pool": 9000, "context.line": 2048},
    ),
    ("Maximum concurrency for 2048 tokens per request: 4.39x", {"context.line": 2048}),
    ("# cuda blocks: 229, # CPU blocks: 512", {"blocks": 229}),
    ("# GPU blocks: 229, # CPU blocks: 512", {"blocks": 229}),
    ("args: Namespace(model='/m', block_size=16, max_model_len=4096)", {"set.block_size": 16, "set.context": 4096}),
    ("# CPU blocks: 512", {"blocks": 512}),
    ("Engine 000: vllm cache_config_info with initialization after num_gpu_blocks is: 77", {"blocks": 77}),
    ("vLLM API server version 0.10.2", {"version": "0.10.2"}),
    ("vLLM server version 0.33.0, serving model m", {"version": "0.33.0"}),
    ("  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.33.0", {"version": "0.33.0"}),
    (
        "Setting attention block size to 528 tokens to ensure that attention page size is >= mamba page size.",
        {"block_size.line": 528, "hybrid": True},
    ),
    ("Setting attention block size to 64 tokens so the quantized", {"block_size.line": 64}),
    ("Forcing kv cache block size to 64 for FlashMLA backend.", {"block_size.line": 64}),
    ("Setting kv cache block size to 64 for FLASHMLA backend(s).", {"block_size.line": 64}),
    ("Padding mamba page size by 1.02% to ensure", {"hybrid": True}),
    ("Hybrid KV cache manager is disabled for this hybrid model, This means", {"hybrid": True}),
    ("Using fp8_e4m3 data type to store kv cache. It reduces", {"kv_dtype.line": "fp8_e4m3"}),
    ("Creating v1 connector with name: NixlConnector and engine_id: x", {"connector": "NixlConnector"}),
    ("Using FLASH_ATTN attention backend out of potential backends: x", {"backend": "FLASH_ATTN"}),
    ("Using Flash Attention backend on V1 engine.", {"backend": "Flash Attention"}),
    ("Graph capturing finished in 9 secs, took 0.50 GiB", {"graph.line": True}),
    ("Using max model len 2048", {"context.model": 2048}),
]
VLLM_EVENTS = [
    ("Input prompt (12 tokens) is too long and exceeds limit of 9", Kind.REFUSED, 12, None),
    ("Input prompt (12 tokens) + lookahead slots (1) is too long and exceeds the capacity", Kind.REFUSED, 12, None),
    (
        f"Releasing expired KV blocks for request {ID} which were retrieved by 0 decode worker(s) within 120 seconds.",
        *(Kind.RELEASED_UNDRAINED, None, ID),
    ),
    (
        f"Potentially invalid KV blocks for unrecognized request {ID} were retrieved by a decode worker.",
        *(Kind.EXPIRED_READ, None, ID),
    ),
    (
        "ValueError: To serve at least one request with the models's max seq len (12), (1 GiB KV cache is needed",
        *(Kind.WILL_NOT_START, None, None),
    ),
    (
        "The model's max seq len (12) is larger than the maximum number of tokens that can be stored in KV cache (9).",
        *(Kind.WILL_NOT_START, None, None),
    ),
]
