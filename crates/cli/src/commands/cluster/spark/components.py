"""Connected components: large-star and small-star (Kiveris and others, 2014) on the executors, a few rounds for chains of any
length; in one task where the edges are few."""

from pyspark.sql import functions as F

NODES = "node long, root long"


def in_one_task(edges):
    """(node, root) for every node of the edges (a, b): the smallest node of its component. One task does it, in memory."""

    def each(batches):
        import pyarrow as pa

        above = {}

        def root(node):
            while above.setdefault(node, node) != node:
                above[node] = above[above[node]]
                node = above[node]
            return node

        for batch in batches:
            for a, b in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist()):
                a, b = root(a), root(b)
                above[max(a, b)] = min(a, b)
        nodes = list(above)
        for at in range(0, len(nodes), 1 << 16):
            some = nodes[at : at + (1 << 16)]
            columns = [pa.array(some, pa.int64()), pa.array([root(node) for node in some], pa.int64())]
            yield pa.RecordBatch.from_arrays(columns, ["node", "root"])

    return edges.select("a", "b").coalesce(1).mapInArrow(each, NODES)


def _large_star(edges):
    """Every larger neighbour of a node becomes a neighbour of its smallest one."""
    both = edges.union(edges.select("b", "a"))
    smallest = both.groupBy("a").agg(F.least("a", F.min("b")).alias("m"))
    return both.join(smallest, "a").where("b > a").select(F.col("b").alias("a"), F.col("m").alias("b"))


def _small_star(edges):
    """Every smaller neighbour of a node, and the node, become neighbours of its smallest one."""
    down = edges.select(F.greatest("a", "b").alias("a"), F.least("a", "b").alias("b"))
    smallest = down.groupBy("a").agg(F.min("b").alias("m"))
    stars = down.join(smallest, "a").select(F.col("b").alias("a"), F.col("m").alias("b")).union(smallest)
    return stars.where("a != b").distinct()


def on_executors(edges, checkpoint, rounds=None):
    """The same for edges that no single task could hold. `checkpoint` writes rows down, so that a round does not repeat those before it;
    `rounds`, a list, gets the number of edges after each."""
    edges, before = edges.select("a", "b"), None
    while True:
        edges = checkpoint(_small_star(_large_star(edges)))
        # A star whose centres no longer move is the answer; a sum tells whether one has.
        now = edges.agg(F.count("*"), F.sum(F.xxhash64("a", "b").cast("decimal(38)"))).first()
        if rounds is not None:
            rounds.append(now[0])
        if now == before:
            break
        before = now
    centres = edges.select("b").distinct().select("b", "b")
    return edges.union(centres).toDF("node", "root")
