"""Tools for pictures: find bright regions, remove specks, draw how a picture was coded.

Pure functions from arrays to arrays: ``pictures`` reads and writes files, ``codec`` encodes and
decodes, ``cli`` prints.
"""
