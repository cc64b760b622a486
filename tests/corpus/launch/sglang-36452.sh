# source: sgl-project/sglang#36452 (values behind a shell's defaults), model's name replaced
# facts sglang-36452: engine=sglang, role=unified, context_length=262144, pool_cap_tokens=262144, kv_dtype=fp8_e4m3
# facts sglang-36452: mem_fraction=0.94, model=org/model-27b, host=0.0.0.0, port=30000, tp_size=1, pool_tokens=?
# gap: defaults were taken for SGLANG_CONTEXT_LENGTH
exec python3 -m sglang.launch_server \
  --model-path ${SGLANG_MODEL:-org/model-27b} \
  --host 0.0.0.0 \
  --port 30000 \
  --context-length ${SGLANG_CONTEXT_LENGTH:-262144} \
  --max-total-tokens ${SGLANG_MAX_TOTAL_TOKENS:-262144} \
  --kv-cache-dtype ${SGLANG_KV_CACHE_DTYPE:-fp8_e4m3} \
  --mem-fraction-static ${SGLANG_MEM_FRACTION_STATIC:-0.94} \
  --max-running-requests ${SGLANG_MAX_RUNNING_REQUESTS:-2} \
  --disable-prefill-cuda-graph
