"""xordal finds the dependencies that every pairwise view misses.

It learns decomposable Markov networks from categorical data by multi-link lookahead search. Public names are
resolved on first use, so importing xordal costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from xordal.checking import Checked, check
    from xordal.counting.dask.backend import DaskBackend
    from xordal.data.dialect import TextFormat
    from xordal.data.discretise import Bins
    from xordal.data.read import read_table
    from xordal.data.split import split_column
    from xordal.data.table import CategoricalTable
    from xordal.errors import (
        DataError,
        DataWarning,
        ImpossibleEvidence,
        ModelFileError,
        SettingsError,
        XordalError,
    )
    from xordal.estimator import MultiLinkSearch
    from xordal.formats.network_files import read_network
    from xordal.formats.networkx import from_networkx, to_networkx
    from xordal.formats.pgmpy import from_pgmpy, to_pgmpy
    from xordal.formats.pyagrum import from_pyagrum, to_pyagrum
    from xordal.learning.learn import Interrupted, learn
    from xordal.model.directed import BayesianNetwork
    from xordal.model.network import DecomposableMarkovNetwork
    from xordal.model.smoothing import Backoff
    from xordal.predictors.classifier import MultiLinkClassifier
    from xordal.predictors.features import HiddenGroupFeatures
    from xordal.report.notebook import plot_network, plot_submodel, plot_trace
    from xordal.resampling import bootstrap
    from xordal.rules.finding import FoundRules, find_rules
    from xordal.rules.repair import BrokenRow, broken_rows
    from xordal.scanning import ScanInterrupted, Scanned, scan
    from xordal.search.checkpoint import Checkpoint
    from xordal.search.constraints import Constraints
    from xordal.search.limits import Limits
    from xordal.statistics.criterion import EntropyDecrement
    from xordal.statistics.scores import BIC, EBIC, BDeu
    from xordal.statistics.significance import Significance
    from xordal.tuning.tune import Tuned, TuningInterrupted, tune
    from xordal.types.learned import Learned, Stability
    from xordal.types.rules import AdditiveRule
    from xordal.types.trace import TraceEntry
    from xordal.web.explore import explore

_HOME = {
    "AdditiveRule": "xordal.types.rules",
    "Backoff": "xordal.model.smoothing",
    "BDeu": "xordal.statistics.scores",
    "BIC": "xordal.statistics.scores",
    "BayesianNetwork": "xordal.model.directed",
    "Bins": "xordal.data.discretise",
    "BrokenRow": "xordal.rules.repair",
    "CategoricalTable": "xordal.data.table",
    "Checkpoint": "xordal.search.checkpoint",
    "Constraints": "xordal.search.constraints",
    "DaskBackend": "xordal.counting.dask.backend",
    "DataError": "xordal.errors",
    "DataWarning": "xordal.errors",
    "DecomposableMarkovNetwork": "xordal.model.network",
    "EBIC": "xordal.statistics.scores",
    "EntropyDecrement": "xordal.statistics.criterion",
    "HiddenGroupFeatures": "xordal.predictors.features",
    "FoundRules": "xordal.rules.finding",
    "explore": "xordal.web.explore",
    "ImpossibleEvidence": "xordal.errors",
    "Checked": "xordal.checking",
    "Interrupted": "xordal.learning.learn",
    "Learned": "xordal.types.learned",
    "Limits": "xordal.search.limits",
    "ModelFileError": "xordal.errors",
    "MultiLinkClassifier": "xordal.predictors.classifier",
    "MultiLinkSearch": "xordal.estimator",
    "ScanInterrupted": "xordal.scanning",
    "Scanned": "xordal.scanning",
    "SettingsError": "xordal.errors",
    "Significance": "xordal.statistics.significance",
    "Stability": "xordal.types.learned",
    "Tuned": "xordal.tuning.tune",
    "TuningInterrupted": "xordal.tuning.tune",
    "TextFormat": "xordal.data.dialect",
    "TraceEntry": "xordal.types.trace",
    "XordalError": "xordal.errors",
    "bootstrap": "xordal.resampling",
    "from_networkx": "xordal.formats.networkx",
    "from_pgmpy": "xordal.formats.pgmpy",
    "from_pyagrum": "xordal.formats.pyagrum",
    "broken_rows": "xordal.rules.repair",
    "find_rules": "xordal.rules.finding",
    "check": "xordal.checking",
    "learn": "xordal.learning.learn",
    "plot_network": "xordal.report.notebook",
    "plot_submodel": "xordal.report.notebook",
    "plot_trace": "xordal.report.notebook",
    "read_network": "xordal.formats.network_files",
    "read_table": "xordal.data.read",
    "scan": "xordal.scanning",
    "split_column": "xordal.data.split",
    "to_networkx": "xordal.formats.networkx",
    "to_pgmpy": "xordal.formats.pgmpy",
    "to_pyagrum": "xordal.formats.pyagrum",
    "tune": "xordal.tuning.tune",
}

__all__ = [
    "BIC",
    "EBIC",
    "AdditiveRule",
    "BDeu",
    "Backoff",
    "BayesianNetwork",
    "Bins",
    "BrokenRow",
    "CategoricalTable",
    "Checked",
    "Checkpoint",
    "Constraints",
    "DaskBackend",
    "DataError",
    "DataWarning",
    "DecomposableMarkovNetwork",
    "EntropyDecrement",
    "FoundRules",
    "HiddenGroupFeatures",
    "ImpossibleEvidence",
    "Interrupted",
    "Learned",
    "Limits",
    "ModelFileError",
    "MultiLinkClassifier",
    "MultiLinkSearch",
    "ScanInterrupted",
    "Scanned",
    "SettingsError",
    "Significance",
    "Stability",
    "TextFormat",
    "TraceEntry",
    "Tuned",
    "TuningInterrupted",
    "XordalError",
    "bootstrap",
    "broken_rows",
    "check",
    "explore",
    "find_rules",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "learn",
    "plot_network",
    "plot_submodel",
    "plot_trace",
    "read_network",
    "read_table",
    "scan",
    "split_column",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "tune",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'xordal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
