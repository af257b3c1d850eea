"""Connected components: large-star and small-star (Kiveris and others, 2014), in O(log² n) rounds; on the driver where the
edges are few."""

from pyspark.rdd import portable_hash


def _smallest(edges, partitions):
    """For each node the smallest of itself and its neighbours."""
    return edges.reduceByKey(min, partitions).map(lambda kv: (kv[0], min(kv)))


def _both(edges):
    return edges.flatMap(lambda e: (e, (e[1], e[0])))


def _large_star(edges, partitions):
    both = _both(edges)
    joined = both.join(_smallest(both, partitions), partitions)
    return joined.filter(lambda kv: kv[1][0] > kv[0]).map(lambda kv: kv[1])


def _small_star(edges, partitions):
    down = edges.map(lambda e: (max(e), min(e)))
    least = _smallest(down, partitions)
    joined = down.join(least, partitions).map(lambda kv: kv[1])
    return joined.union(least).filter(lambda e: e[0] != e[1])


def components(edges, partitions, checkpoint):
    """(node, smallest node of its component) for every node that has an edge to another one."""
    before = None
    while True:
        edges = _large_star(edges, partitions).distinct(partitions)
        edges = _small_star(edges, partitions).distinct(partitions)
        edges = checkpoint(edges)
        # A star whose centres no longer move is the answer; sums tell whether one has.
        now = edges.map(lambda e: (1, portable_hash(e))).fold((0, 0), lambda a, b: (a[0] + b[0], a[1] + b[1]))
        if now == before:
            break
        before = now
    centres = edges.map(lambda e: e[1]).distinct(partitions).map(lambda c: (c, c))
    return edges.union(centres)


def on_driver(edges):
    """The same for edges that fit into the memory of one process."""
    above = {}

    def root(node):
        while above.setdefault(node, node) != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for a, b in edges:
        a, b = root(a), root(b)
        above[max(a, b)] = min(a, b)
    return [(node, root(node)) for node in list(above)]
