"""mmp files in a browser: the pages that show them, and the server of ``mmp view``."""
