"""What GET /metrics says, as numbers."""

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

Series = tuple[str, frozenset[tuple[str, str]]]


class Scraped:
    """One scrape, of a running service or a TestClient. Several workers are asked through whichever answers."""

    def __init__(self, client: Any, **headers: str) -> None:
        answer = client.get("/metrics", headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/plain; version=")
        self.text: str = answer.text
        self.families = {family.name: family for family in text_string_to_metric_families(self.text)}
        self._values: dict[Series, float] = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in self.families.values()
            for sample in family.samples
        }

    def __call__(self, name: str, **labels: object) -> float:
        """The value of one series; 0 where there is none yet."""
        return self._values.get((name, frozenset((key, str(value)) for key, value in labels.items())), 0.0)

    def total(self, name: str) -> float:
        """The sum of all series of a name."""
        return sum(value for (each, _), value in self._values.items() if each == name)

    def labels(self, name: str) -> set[str]:
        """The labels that series of a name have."""
        return {label for (each, labels) in self._values for label, _ in labels if each == name}
