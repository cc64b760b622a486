"""The incident from start to end: leak, audit, probe, refusal, ablation."""
