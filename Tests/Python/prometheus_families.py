"""Reads metrics in Prometheus' text format as Prometheus' own library does, and prints each family's name and type."""

import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    if not family.documentation:
        sys.exit(f"{family.name} has no HELP")
    if not family.samples:
        sys.exit(f"{family.name} has no samples")
    print(family.name, family.type)
