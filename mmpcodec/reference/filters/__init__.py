"""Filters of decoded planes: fixed filters, post filter, and filter by earlier planes."""
