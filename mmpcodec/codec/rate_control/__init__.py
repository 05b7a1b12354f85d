"""From what is asked for to a lambda: a prediction for a quality, a search for a target."""
