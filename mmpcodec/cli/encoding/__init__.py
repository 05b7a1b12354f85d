"""How ``mmp encode`` gets from picture files to mmp files."""
