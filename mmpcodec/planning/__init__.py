"""Planning of files that share limited space: budgets in bytes, and packing on media."""
