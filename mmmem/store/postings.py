"""An inverted index that grows: which memories hold a term, and in how many a token occurs.

Both are values: growing one gives another, so a snapshot that a search works on never changes under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mmmem.types import Int32, Int64


class _Segment(NamedTuple):
    """Postings of a run of rows, sorted by (term, row). terms: int64 [p]. rows, counts: int32 [p]."""

    terms: Int64
    rows: Int32
    counts: Int32


@dataclass(frozen=True, slots=True)
class Postings:
    """Which rows hold a term, in segments of falling size that are merged as they grow (O'Neil et al., 1996).

    So a row costs the logarithm of their number to add, and a term as much to look up.
    """

    _segments: tuple[_Segment, ...] = ()

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return sum(array.nbytes for segment in self._segments for array in segment)

    def plus(self, terms: Int64, rows: Int32) -> Postings:
        """With these occurrences added. terms: int64 [l]. rows: int32 [l], ascending, all of them beyond the rows held."""
        if not len(terms):
            return self
        segments = [*self._segments, _segment(terms, rows)]
        while len(segments) > 1 and len(segments[-2].terms) < 2 * len(segments[-1].terms):
            newer, older = segments.pop(), segments.pop()
            segments.append(_merged(older, newer))
        return Postings(tuple(segments))

    def of(self, terms: Int64) -> list[tuple[Int32, Int32]]:
        """For each distinct term that any row holds: those rows, int32 [p] ascending, and how often each, int32 [p]."""
        wanted = np.unique(terms)
        pieces: list[list[tuple[Int32, Int32]]] = [[] for _ in wanted]
        for held, rows, counts in self._segments:
            starts, ends = np.searchsorted(held, wanted, "left"), np.searchsorted(held, wanted, "right")
            for place in np.flatnonzero(ends > starts).tolist():
                own = slice(starts[place], ends[place])
                pieces[place].append((rows[own], counts[own]))
        return [
            (np.concatenate([rows for rows, _ in of_term]), np.concatenate([counts for _, counts in of_term]))
            for of_term in pieces
            if of_term
        ]


@dataclass(frozen=True, slots=True)
class DocumentFrequencies:
    """In how many memories each token occurs. ids: int32 [v], ascending. counts: int64 [v]."""

    ids: Int32
    counts: Int64

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.ids.nbytes + self.counts.nbytes

    @classmethod
    def empty(cls) -> DocumentFrequencies:
        """Of no memories."""
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int64))

    def plus(self, ids: Int32, rows: Int32) -> DocumentFrequencies:
        """With more memories counted. ids: int32 [t], their tokens. rows: int32 [t], which memory each is of."""
        pairs = np.sort(rows.astype(np.int64) << 32 | ids.astype(np.int64))
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # np.unique would hash them, in twenty times the time
        new, counts = np.unique((pairs & 0xFFFFFFFF).astype(np.int32), return_counts=True)
        ids, places = np.unique(np.concatenate([self.ids, new]), return_inverse=True)
        sums = np.bincount(places, weights=np.concatenate([self.counts, counts]), minlength=len(ids))
        return DocumentFrequencies(ids, sums.astype(np.int64))

    def of(self, ids: Int32) -> Int64:
        """int64 [q]: of each token, 0 for one that occurs nowhere."""
        if not len(self.ids):
            return np.zeros(len(ids), np.int64)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, self.counts[places], 0)


def _segment(terms: Int64, rows: Int32) -> _Segment:
    order = np.argsort(terms, kind="stable")  # rows of one term stay in order
    terms, rows = terms[order], rows[order]
    first = np.ones(len(terms), dtype=np.bool_)
    first[1:] = (terms[1:] != terms[:-1]) | (rows[1:] != rows[:-1])
    places = np.flatnonzero(first)
    return _Segment(terms[places], rows[places], np.diff(places, append=len(terms)).astype(np.int32))


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    terms = np.concatenate([older.terms, newer.terms])
    order = np.argsort(terms, kind="stable")  # two sorted runs: linear
    rows, counts = np.concatenate([older.rows, newer.rows]), np.concatenate([older.counts, newer.counts])
    return _Segment(terms[order], rows[order], counts[order])
