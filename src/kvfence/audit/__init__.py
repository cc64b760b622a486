"""Rules over facts: what is wrong with this deployment, why, and the one change that ends it."""
