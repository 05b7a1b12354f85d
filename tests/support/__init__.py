"""Pictures, instances and comparisons that several folders of tests share."""
