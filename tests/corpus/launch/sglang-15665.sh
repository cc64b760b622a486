# source: sgl-project/sglang#15665 (unequal pools by construction), shortened
# facts sglang-15665:5: engine=sglang, role=prefill, mem_fraction=0.8, tp_size=4, host=0.0.0.0, bootstrap_port=8998
# facts sglang-15665:6: engine=sglang, role=decode, mem_fraction=0.9, tp_size=4, host=127.0.0.1, bootstrap_port=?, published=?
# gap: whether sglang_router.launch_router removes bootstrap_host
python3 -m sglang.launch_server --model-path m-80b --port 30000 --tp 4 --base-gpu-id 0 --trust-remote-code --mem-fraction-static 0.8 --host 0.0.0.0 --disaggregation-ib-device mlx5_0,mlx5_1 --disaggregation-mode prefill
python3 -m sglang.launch_server --model-path m-80b --port 30001 --tp 4 --base-gpu-id 4 --trust-remote-code --mem-fraction-static 0.9 --disaggregation-mode decode --disable-radix-cache
python -m sglang_router.launch_router --mini-lb --prefill http://127.0.0.1:30000 --decode http://127.0.0.1:30001 --port 8000 --host 0.0.0.0 --pd-disaggregation
