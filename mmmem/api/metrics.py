"""Every metric, and what it is called in Prometheus. docs/observability.md says what each means.

Several workers count in files of one folder (worker_counts.py), which prometheus_client adds up; a single process in memory.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

import mmmem
from mmmem.api import worker_counts
from mmmem.api.served import current
from mmmem.meter import Meter

if TYPE_CHECKING:
    from mmmem.settings import Settings

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
ITEMS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each counter and histogram, which Prometheus does not need


class Metrics(Meter):
    """Counts what the service does. One for each process."""

    def __init__(self, settings: Settings) -> None:
        self._profile = settings.profile
        self._folder = worker_counts.folder()
        self._registry = CollectorRegistry()
        self._count_requests()
        self._count_work()
        self._count_workers()
        self.sees_files = "://" not in settings.data_dir  # there are none in a bucket that can be counted
        if self.sees_files:
            self._count_files()
        self._workers.set(1)

    def _count_requests(self) -> None:
        here = self._registry
        self._requests = Counter(
            "mmmem_http_requests", "Requests that were answered.", ["method", "route", "status"], registry=here
        )
        self._durations = Histogram(
            "mmmem_http_request_duration_seconds",
            "From a request's headers to the last of its answer.",
            ["route"],
            buckets=SECONDS,
            registry=here,
        )
        self._errors = Counter(
            "mmmem_http_errors", "Requests that were refused or failed, by the error's code.", ["code"], registry=here
        )
        self._stages = Histogram(
            "mmmem_stage_duration_seconds",
            "Parts of an Add or a Search.",
            ["operation", "stage"],
            buckets=SECONDS,
            registry=here,
        )
        self._waiting = Gauge(
            "mmmem_queue_waiting", "What waits in a queue now.", ["lane"], multiprocess_mode="livesum", registry=here
        )
        self._running = Gauge(
            "mmmem_queue_running",
            "What is worked on of a queue now.",
            ["lane"],
            multiprocess_mode="livesum",
            registry=here,
        )

    def _count_work(self) -> None:
        here = self._registry
        self._batches = Histogram(
            "mmmem_batch_size",
            "Items that an encoder took in one pass.",
            ["encoder", "kind"],
            buckets=ITEMS,
            registry=here,
        )
        self._encoder_seconds = Counter(
            "mmmem_encoder_seconds", "Time that encoders were at work.", ["encoder", "kind"], registry=here
        )
        self._hits = Counter("mmmem_cache_hits", "Looks at a cache that found it.", ["cache"], registry=here)
        self._misses = Counter("mmmem_cache_misses", "Looks at a cache that did not.", ["cache"], registry=here)
        self._cache_bytes = Gauge(
            "mmmem_cache_bytes", "Memory that a cache holds.", ["cache"], multiprocess_mode="livesum", registry=here
        )
        self._commit_requests = Histogram(
            "mmmem_store_commit_requests", "Adds that one commit held.", buckets=ITEMS, registry=here
        )
        self._commit_seconds = Histogram(
            "mmmem_store_commit_duration_seconds", "Time that a commit took.", buckets=SECONDS, registry=here
        )

    def _count_workers(self) -> None:
        here = self._registry
        self._workers = Gauge("mmmem_workers", "Processes that serve.", multiprocess_mode="livesum", registry=here)
        self._ready = Gauge(
            "mmmem_workers_ready", "Those that have loaded their models.", multiprocess_mode="livesum", registry=here
        )
        self._build = Gauge(
            "mmmem_build_info",
            "What is running; always 1.",
            ["version", "profile", "device"],
            multiprocess_mode="livemax",
            registry=here,
        )

    def _count_files(self) -> None:
        here = self._registry
        self._users = _latest("mmmem_store_users", "Users of whom the data folder holds anything.", here)
        self._files = _latest("mmmem_store_files", "Files in the data folder.", here, "kind")
        self._bytes = _latest("mmmem_store_bytes", "Bytes of those files.", here, "kind")
        self._measured = _latest("mmmem_store_measured_timestamp_seconds", "When they were last counted.", here)

    def exposition(self) -> bytes:
        """What GET /metrics answers, of all workers together."""
        if self._folder is None:
            return generate_latest(self._registry)
        worker_counts.forget_dead(self._folder)
        together = CollectorRegistry()
        MultiProcessCollector(together, str(self._folder))  # type: ignore[no-untyped-call]
        return generate_latest(together)

    def answered(self, method: str, route: str, status: int, code: str, seconds: float) -> None:
        """A request was answered; `route` is the template of its path, `code` that of its error."""
        self._requests.labels(method, route, status).inc()
        self._durations.labels(route).observe(seconds)
        if code:
            self._errors.labels(code).inc()

    def measured(self, users: int, files: dict[str, int], nbytes: dict[str, int]) -> None:
        """What the data folder holds, by kind."""
        self._users.set(users)
        for gauge, held in ((self._files, files), (self._bytes, nbytes)):
            for kind, value in held.items():
                gauge.labels(kind).set(value)
        self._measured.set(time.time())

    def spent(self, operation: str, stage: str, seconds: float) -> None:
        """See Meter. The request's log line tells of it too."""
        self._stages.labels(operation, stage).observe(seconds)
        served = current.get()
        if served:
            served.stages[stage] = served.stages.get(stage, 0.0) + seconds

    def queued(self, lane: str, *, waiting: int = 0, running: int = 0) -> None:
        """See Meter."""
        if waiting:
            self._waiting.labels(lane).inc(waiting)
        if running:
            self._running.labels(lane).inc(running)

    def encoded(self, encoder: str, kind: str, items: int, seconds: float) -> None:
        """See Meter."""
        self._batches.labels(encoder, kind).observe(items)
        self._encoder_seconds.labels(encoder, kind).inc(seconds)

    def looked_up(self, cache: str, *, hits: int = 0, misses: int = 0) -> None:
        """See Meter."""
        self._hits.labels(cache).inc(hits)
        self._misses.labels(cache).inc(misses)

    def holds(self, cache: str, nbytes: int) -> None:
        """See Meter."""
        self._cache_bytes.labels(cache).set(nbytes)

    def committed(self, requests: int, seconds: float) -> None:
        """See Meter."""
        self._commit_requests.observe(requests)
        self._commit_seconds.observe(seconds)

    def ready(self, device: str) -> None:
        """See Meter."""
        self._build.labels(mmmem.__version__, self._profile, device).set(1)
        self._ready.set(1)


def _latest(name: str, text: str, registry: CollectorRegistry, *labels: str) -> Gauge:
    """A gauge that one worker sets for all, another one after it has died."""
    return Gauge(name, text, labels, multiprocess_mode="mostrecent", registry=registry)
