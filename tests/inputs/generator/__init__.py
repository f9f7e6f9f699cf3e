"""Makes the problem lines under tests/inputs; start with generate.py one folder up."""
