#!/bin/bash
# source: ai-dynamo/dynamo examples/backends/sglang/launch/disagg.sh, shortened
# facts dynamo-disagg:26: engine=sglang, role=prefill, page_size=16, tp_size=1, bootstrap_port=12345, transfer_backend=nixl
# facts dynamo-disagg:38: engine=sglang, role=decode, page_size=16, tp_size=1, host=0.0.0.0, published=?
stop_all() {
    kill $FRONT_PID $PREFILL_PID 2>/dev/null || true
}
trap stop_all EXIT INT TERM

TRACE=false
while [[ $# -gt 0 ]]; do
    case $1 in
        --trace) TRACE=true; shift ;;
        -h|--help) echo "python3 -m dynamo.sglang --tp 99"; exit 0 ;;
        *) exit 1 ;;
    esac
done

# the front
OTEL_SERVICE_NAME=front \
python3 -m dynamo.frontend &
FRONT_PID=$!

# prefill
OTEL_SERVICE_NAME=prefill DYN_SYSTEM_PORT=8081 \
python3 -m dynamo.sglang \
  --model-path org/model-0.6b \
  --page-size 16 \
  --tp 1 \
  --disaggregation-mode prefill \
  --disaggregation-bootstrap-port 12345 \
  --host 0.0.0.0 \
  --disaggregation-transfer-backend nixl &
PREFILL_PID=$!

# decode
OTEL_SERVICE_NAME=decode DYN_SYSTEM_PORT=8082 \
CUDA_VISIBLE_DEVICES=1 python3 -m dynamo.sglang \
  --model-path org/model-0.6b \
  --page-size 16 \
  --tp 1 \
  --disaggregation-mode decode \
  --disaggregation-bootstrap-port 12345 \
  --host 0.0.0.0 \
  --disaggregation-transfer-backend nixl
