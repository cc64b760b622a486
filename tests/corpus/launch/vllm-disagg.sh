#!/bin/bash
# source: vllm-project/vllm examples/online_serving/disaggregated_prefill.sh, shortened
# facts vllm-disagg:21: engine=vllm, role=prefill, context_length=100, mem_fraction=0.8, model=org/model-8b, port=8100
# facts vllm-disagg:29: engine=vllm, role=decode, context_length=100, mem_fraction=0.8, port=8200, transfer_backend=P2pNcclConnector
# facts vllm-disagg:29: published=every address of its machine, tp_size=1, pool_tokens=?
# gap: whether disagg_prefill_proxy_server.py removes bootstrap_host
# gap: defaults were taken for HF_MODEL_NAME
set -xe
MODEL_NAME=${HF_MODEL_NAME:-org/model-8b}
trap 'stop_all' INT
stop_all() {
    pgrep python | xargs kill -9
}
if [[ -z "${VLLM_HOST_IP:-}" ]]; then
    export VLLM_HOST_IP=127.0.0.1
else
    echo "Using ${VLLM_HOST_IP}"
fi

CUDA_VISIBLE_DEVICES=2 \
    vllm serve $MODEL_NAME \
    --host 0.0.0.0 \
    --port 8100 \
    --max-model-len 100 \
    --gpu-memory-utilization 0.8 \
    --kv-transfer-config \
    '{"kv_connector":"P2pNcclConnector","kv_role":"kv_producer","kv_connector_extra_config":{"proxy_ip":"'"$VLLM_HOST_IP"'"}}' &

CUDA_VISIBLE_DEVICES=3 vllm serve $MODEL_NAME \
    --host 0.0.0.0 \
    --port 8200 \
    --max-model-len 100 \
    --gpu-memory-utilization 0.8 \
    --kv-transfer-config \
    '{"kv_connector":"P2pNcclConnector","kv_role":"kv_consumer","kv_connector_extra_config":{"proxy_ip":"'"$VLLM_HOST_IP"'"}}' &

python3 disagg_prefill_proxy_server.py &
answer=$(curl -s http://localhost:8000/v1/completions -d '{
"model": "'"$MODEL_NAME"'",
"prompt": "vllm serve x --max-model-len 5"
}')
