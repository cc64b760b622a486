"""What a deployment says of itself, each fact with the place it was read from."""
