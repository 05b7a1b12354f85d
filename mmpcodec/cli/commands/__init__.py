"""The commands of ``mmp``, one module each."""
