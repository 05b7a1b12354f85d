"""Drawings of how a picture was coded."""
