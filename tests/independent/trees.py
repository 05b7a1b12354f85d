"""Sections Fragments to Copies."""

import numpy as np
from independent.arithmetic import padded

LIMIT = 2**17  # L of Models


def fragments(coder, height, width, depth, tools):
    """The decoded padded picture of a layer of trees."""
    picture = np.zeros((padded(height, 16), padded(width, 16)), np.int64)
    trees = Trees(coder, picture, tools)
    for y in range(0, picture.shape[0], 16):
        for x in range(0, picture.shape[1], 16):
            trees.tree(y, x, 0, 0, y, x)
            trees.learn(y, x)
    return picture


class Trees:
    def __init__(self, coder, picture, tools):
        self.coder = coder
        self.picture = picture
        self.tools = tools
        self.leaf = np.full((*picture.shape, 2), -1)  # (n, m) of the leaf over each sample
        self.split_nodes = []  # (y, x, n, m) in the order of decoding, till they are learned from
        copied = tools["displaced blocks"] and tools["index classes"]
        self.copies = Copies(picture, tools) if copied else None
        self.copied = []  # (y, x, n, m) of the leaves that are copies, till they are learned from
        self.flag_frequencies = {}
        self.dictionaries = {
            (n, m): Dictionary(n, m, tools) for n in range(5) for m in range(5) if self.occurs(n, m)
        }

    def occurs(self, n, m):
        return self.tools["partition"] == 0 or m in (n, n + 1)

    def tree(self, y, x, n, m, y0, x0):
        """Decodes the tree of a segment of the fragment that begins at (y0, x0)."""
        h, w = 16 >> n, 16 >> m
        flag = self.flag(y, x, n, m, y0, x0)
        if flag == 0:
            # Residual: e + 128 - 128 is from 0 to 255 without a limit
            block = self.dictionaries[n, m].index(self.coder, self.copies)
            self.picture[y : y + h, x : x + w] = block
            if self.dictionaries[n, m].copied:
                self.copied.append((y, x, n, m))
            self.leaf[y : y + h, x : x + w] = n, m
            return
        self.split_nodes.append((y, x, n, m))
        if flag == 1:
            self.tree(y, x, n, m + 1, y0, x0)
            self.tree(y, x + w // 2, n, m + 1, y0, x0)
        else:
            self.tree(y, x, n + 1, m, y0, x0)
            self.tree(y + h // 2, x, n + 1, m, y0, x0)

    def flag(self, y, x, n, m, y0, x0):
        allowed = [0]
        if m < 4 and self.occurs(n, m + 1):
            allowed.append(1)
        if n < 4 and self.occurs(n + 1, m):
            allowed.append(2)
        if len(allowed) == 1:
            return 0
        context = self.flag_context(y, x, n, m, y0, x0) if self.tools["flag contexts"] else 0
        frequencies = self.flag_frequencies.setdefault((context, n, m), [1] * len(allowed))
        total = sum(frequencies)
        number = self.coder.symbol(frequencies)
        frequencies[number] += 1
        if total + 1 > LIMIT:
            frequencies[:] = [(f + 1) >> 1 for f in frequencies]
        return allowed[number]

    def flag_context(self, y, x, n, m, y0, x0):
        nowhere = (-1, -1)
        a = self.leaf[y0 - 1, x + (16 >> m) // 2] if y0 > 0 else nowhere
        b = self.leaf[y + (16 >> n) // 2, x0 - 1] if x0 > 0 else nowhere
        context = min(3, sum(int(leaf[0] > n) + int(leaf[1] > m) for leaf in (a, b)))
        if a[0] >= 0 and b[0] >= 0 and a[1] > m and not b[0] > n:
            context += 4
        return context

    def learn(self, y0, x0):
        """Learning and Copies after the area of 16x16 samples at (y0, x0)."""
        for y, x, n, m in self.split_nodes:
            block = self.picture[y : y + (16 >> n), x : x + (16 >> m)]
            for (n1, m1), dictionary in self.dictionaries.items():
                if self.copies and (n1 < n or m1 < m):
                    continue
                if abs(n - n1) + abs(m - m1) <= self.tools["copy radius"]:
                    element = scale_transform(block, 16 >> n1, 16 >> m1)
                    dictionary.insert(element, m + 5 * n)
        self.split_nodes = []
        if self.copies:
            for y, x, n, m in self.copied:
                block = self.picture[y : y + (16 >> n), x : x + (16 >> m)]
                self.dictionaries[n, m].insert(block.copy(), 52)
            self.copied = []
            self.copies.area(y0, x0)


class Copies:
    def __init__(self, picture, tools):
        self.picture = picture
        self.tools = tools
        self.edges = np.zeros(picture.shape, bool)
        self.areas = []  # first row and column of those with edges

    def area(self, y0, x0):
        h, w = self.picture.shape
        for y in range(y0, min(y0 + 16, h)):
            for x in range(x0, min(x0 + 16, w)):
                for above in ((y - 1, x), (y, x - 1)):
                    if min(above) >= 0:
                        difference = self.picture[y, x] - self.picture[above]
                        self.edges[y, x] |= 4 * difference**2 > self.tools["redundancy radius"]
        if self.edges[y0 : y0 + 16, x0 : x0 + 16].any():
            self.areas.append((y0, x0))

    def exist(self, n, m):
        h, w = 16 >> n, 16 >> m
        fits = h <= self.picture.shape[0] and w <= self.picture.shape[1]
        return h >= 4 and w >= 4 and h * w <= 128 and fits and len(self.areas) > 0

    def block(self, coder, n, m):
        h, w = 16 >> n, 16 >> m
        v = self.tools["displaced blocks"]
        newest = self.areas[-65536:]
        y0, x0 = newest[-1 - coder.symbol([1] * len(newest))]
        places = []
        for bottom in range(max(1, h >> v), 17, max(1, h >> v)):
            for right in range(max(1, w >> v), 17, max(1, w >> v)):
                y = min(max(y0 + bottom - h, 0), self.picture.shape[0] - h)
                x = min(max(x0 + right - w, 0), self.picture.shape[1] - w)
                if self.edges[y : y + h, x : x + w].any():
                    places.append((y, x))
        y, x = places[coder.symbol([1] * len(places))]
        return self.picture[y : y + h, x : x + w]


class Dictionary:
    def __init__(self, n, m, tools):
        self.n, self.m = n, m
        self.tools = tools
        self.elements = []
        self.counts = []
        self.classes = []
        self.present = set()  # the elements as bytes
        self.cells = {}  # by their names, lists of indices
        self.class_frequencies = [1] * 53
        self.first = 0
        self.copied = False  # whether the latest index was that of a copy
        for i in range(256):
            element = np.full((16 >> n, 16 >> m), i, np.int64)
            if i == 128 or not self.redundant(element):
                self.place(len(self.elements), element, 24)
        self.first = self.hand = len(self.elements)  # S and h

    def insert(self, element, origin):
        if self.redundant(element):
            return
        limit = self.tools["dictionary limit"]
        if len(self.elements) < limit:
            self.place(len(self.elements), element, origin)
        elif self.tools["replacement"] and self.first < limit:
            for _ in range(64):
                index = self.hand
                self.hand = index + 1 if index + 1 < len(self.elements) else self.first
                if self.counts[index] == 1:
                    self.place(index, element, origin)
                    return

    def place(self, index, element, origin):
        if index < len(self.elements):  # another one is replaced
            old = self.elements[index]
            self.present.remove(old.tobytes())
            if self.has_cells() and index in self.cells[self.cell(old)]:
                self.cells[self.cell(old)].remove(index)
        if not self.tools["index classes"]:
            origin = 0
        elif (element == 128).all():
            origin = 50
        self.elements[index : index + 1] = [element]
        self.counts[index : index + 1] = [1]
        self.classes[index : index + 1] = [origin]
        self.present.add(element.tobytes())
        if self.has_cells():
            cell = self.cells.setdefault(self.cell(element), [])
            cell.append(index)
            del cell[:-16]

    def has_cells(self):
        return self.tools["redundancy radius"] > 0 and (self.n, self.m) != (4, 4)

    def cell(self, element):
        h, w = element.shape
        rows, columns = min(2, h), min(2, w)
        quarters = element.reshape(rows, h // rows, columns, w // columns)
        return (quarters.sum(axis=(1, 3)) // (h * w // rows // columns) // 64).tobytes()

    def redundant(self, element):
        if element.tobytes() in self.present:
            return True
        radius = self.tools["redundancy radius"]
        return self.has_cells() and any(
            ((element - self.elements[index]) ** 2).sum() <= radius
            for index in self.cells.get(self.cell(element), ())
        )

    def members(self, c):
        return [index for index, k in enumerate(self.classes) if k == c]

    def index(self, coder, copies):
        """Decodes the index of an element or copy and gives its samples."""
        classes = set(self.classes)
        if copies and copies.exist(self.n, self.m):
            classes.add(51)
        classes = sorted(classes)
        c = classes[0]
        if len(classes) > 1:
            frequencies = [self.class_frequencies[k] for k in classes]
            c = classes[coder.symbol(frequencies)]
            self.class_frequencies[c] += 1
            if sum(frequencies) + 1 > LIMIT:
                self.class_frequencies = [(g + 1) >> 1 for g in self.class_frequencies]
        self.copied = copies is not None and c == 51
        if self.copied:
            return copies.block(coder, self.n, self.m)
        members = self.members(c)
        index = members[coder.symbol([self.counts[k] for k in members])]
        # Use
        with_classes = self.tools["index classes"]
        if with_classes and c < 25:
            c += 25
        self.classes[index] = c
        self.counts[index] += 2 if with_classes else 1
        members = self.members(c)
        if sum(self.counts[k] for k in members) > LIMIT:
            for k in members:
                self.counts[k] = (self.counts[k] + 1) >> 1
        return self.elements[index]


def scale_transform(block, height, width):
    return scale_lines(scale_lines(block, width).T, height).T.copy()


def scale_lines(lines, size):
    """Each row of an array, brought to another size."""
    old = lines.shape[1]
    if size <= old:
        r = old // size
        return (lines.reshape(-1, size, r).sum(axis=2) + (r >> 1)) // r
    p = np.arange(size) * (old - 1)
    k = p // size
    a = p - k * size
    after = np.minimum(k + 1, old - 1)
    return lines[:, k] + (a * (lines[:, after] - lines[:, k]) + size // 2) // size
