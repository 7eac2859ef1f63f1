# SPDX-License-Identifier: Apache-2.0
"""What networkx had until 2.4 and 3.0: graphs from and to matrices, parts, and pickled graphs."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any


def _now() -> Any:
    import networkx

    return networkx


def to_numpy_matrix(G: Any, *args: Any, **kwargs: Any) -> Any:
    """The adjacency matrix, as a matrix."""
    import numpy as np

    return np.asmatrix(_now().to_numpy_array(G, *args, **kwargs))


def from_numpy_matrix(A: Any, *args: Any, **kwargs: Any) -> Any:
    """A graph of a matrix of weights."""
    import numpy as np

    return _now().from_numpy_array(np.asarray(A), *args, **kwargs)


def to_scipy_sparse_matrix(G: Any, *args: Any, **kwargs: Any) -> Any:
    """The adjacency matrix, as a sparse matrix, whose `*` multiplies matrices."""
    from scipy import sparse

    found = _now().to_scipy_sparse_array(G, *args, **kwargs)
    return getattr(sparse, f"{found.format}_matrix")(found)


def adj_matrix(G: Any, *args: Any, **kwargs: Any) -> Any:
    """The adjacency matrix, as a sparse matrix in rows."""
    from scipy import sparse

    return sparse.csr_matrix(_now().adjacency_matrix(G, *args, **kwargs))


def _parts(G: Any, components: Any, copy: bool) -> Iterator[Any]:
    for nodes in components(G):
        part = G.subgraph(nodes)
        yield part.copy() if copy else part


def connected_component_subgraphs(G: Any, copy: bool = True) -> Iterator[Any]:
    """The graphs of nodes that are connected."""
    return _parts(G, _now().connected_components, copy)


def strongly_connected_component_subgraphs(G: Any, copy: bool = True) -> Iterator[Any]:
    """The graphs of nodes that are connected in both directions."""
    return _parts(G, _now().strongly_connected_components, copy)


def weakly_connected_component_subgraphs(G: Any, copy: bool = True) -> Iterator[Any]:
    """The graphs of nodes that are connected in either direction."""
    return _parts(G, _now().weakly_connected_components, copy)


def read_gpickle(path: Any) -> Any:
    """A pickled graph, from a file or its path.  What is unpickled can run code."""
    if hasattr(path, "read"):
        return pickle.load(path)
    with open(path, "rb") as file:
        return pickle.load(file)


def write_gpickle(G: Any, path: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
    """Pickles a graph into a file, or one of a path."""
    if hasattr(path, "write"):
        pickle.dump(G, path, protocol)
        return
    with open(path, "wb") as file:
        pickle.dump(G, file, protocol)


def info(G: Any, n: Any = None) -> str:
    """What a graph is and has, in lines."""
    if n is not None:
        near = " ".join(map(str, G.neighbors(n)))
        return f"Node {n} has the following properties:\nDegree: {G.degree(n)}\nNeighbors: {near}"
    lines = [f"Name: {G.name}", f"Type: {type(G).__name__}"]
    lines += [f"Number of nodes: {len(G)}", f"Number of edges: {G.number_of_edges()}"]
    if len(G):
        lines.append(f"Average degree: {sum(d for _, d in G.degree()) / len(G):8.4f}")
    return "\n".join(lines)


def node(self: Any) -> Any:
    """The nodes, and what they have."""
    return self.nodes


def nodes_iter(self: Any, data: Any = False) -> Iterator[Any]:
    """The nodes one by one."""
    return iter(self.nodes(data=data))


def edges_iter(self: Any, nbunch: Any = None, data: Any = False, **kwargs: Any) -> Iterator[Any]:
    """The edges one by one."""
    return iter(self.edges(nbunch, data=data, **kwargs))


def selfloop_edges(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The edges from a node to itself."""
    return _now().selfloop_edges(self, *args, **kwargs)


def nodes_with_selfloops(self: Any) -> Any:
    """The nodes with an edge to themselves."""
    return _now().nodes_with_selfloops(self)


def add_path(self: Any, nodes: Any, **attr: Any) -> None:
    """Edges from each of some nodes to the next."""
    _now().add_path(self, nodes, **attr)
