"""Write files of several pictures: ``formats`` is the table, each format has a module.

The module of a format defines ``write(target, pages, options)``: ``target`` is a binary stream that
can be read and whose position can be set, or the path of a new folder where the row sets
``folder``; ``pages`` is a ``Pages``, which is read once, in order; ``options`` is an ``Options``.
What the file does not keep the module gives to ``pages.lose``.
"""
