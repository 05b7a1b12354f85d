"""Planes of two values: templates, and earlier places whose surroundings look alike."""
