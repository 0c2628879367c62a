"""pyAgrum, the oracle of inference: imported with care, and our networks as its own."""

from __future__ import annotations

import warnings

import numpy as np

from xordal.graph.chordal import perfect_order
from xordal.model.network import DecomposableMarkovNetwork
from xordal.types.varsets import members

with warnings.catch_warnings():  # its extension crashes where the warnings of its own import are errors
    warnings.simplefilter("ignore")
    import pyagrum as gum

    gum.MarkovRandomField()  # of an extension of its own, loaded at its first use

__all__ = ["as_bayesian_network", "gum"]


def as_bayesian_network(network: DecomposableMarkovNetwork) -> gum.BayesNet:
    """The same distribution with arcs along a perfect order: P(v | its earlier neighbours), from the counts."""
    net = gum.BayesNet()
    for name, levels in zip(network.variables, network.n_levels, strict=True):
        net.add(gum.LabelizedVariable(name, name, levels))
    order = perfect_order(network.graph.neighbours)
    assert order is not None
    earlier = 0
    for v in order:
        parents = members(network.graph.neighbours[v] & earlier)
        earlier |= 1 << v
        for u in parents:
            net.addArc(network.variables[u], network.variables[v])
        _fill(net.cpt(network.variables[v]), network, v, parents)
    return net


def _fill(cpt: gum.Tensor, network: DecomposableMarkovNetwork, v: int, parents: tuple[int, ...]) -> None:
    inside = (*parents, v)
    table = next(t for _, t in network.factors if all(t.variables >> u & 1 for u in inside))
    places = [members(table.variables).index(u) for u in inside]
    counts = np.zeros([network.n_levels[u] for u in inside])
    np.add.at(counts, tuple(table.counted.cells[:, places].T), table.counted.counts)
    assert isinstance(network.smoothing, float), "this bridge knows even smoothing only"
    counts += network.smoothing / counts.size
    total = counts.sum(axis=-1, keepdims=True)
    shares = np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / counts.shape[-1])
    for cell in np.ndindex(*counts.shape[:-1]):
        where = {network.variables[u]: int(code) for u, code in zip(parents, cell, strict=True)}
        cpt[where] = shares[cell].tolist()
