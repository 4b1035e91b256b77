"""Speed and memory, shown as ratios measured in one run: `make bench`."""
