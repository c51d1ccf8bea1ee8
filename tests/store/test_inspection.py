"""A store is looked at from outside without a change to it, wherever it lies (tests/doctor has the rest)."""

from __future__ import annotations

from mmmem.doctor import State
from mmmem.doctor.place import place_findings
from mmmem.doctor.tables import table_findings
from mmmem.settings import Settings
from mmmem.store.objects import Objects
from tests.doctor.test_doctor import with_hash
from tests.store.content import IN_A_BUCKET, OpenStore, request


@IN_A_BUCKET
def test_a_store_in_a_bucket_is_read_and_stays_as_it_is(where: str, open_store: OpenStore) -> None:
    store = open_store()
    for number in range(2):
        store.add(with_hash(request("ada", f"r{number}", f"the key is {number}")))
    objects = Objects(where)
    before = objects.names("")
    found = list(place_findings(Settings(data_dir=where), 0)) + list(table_findings(Settings(data_dir=where)))
    assert {finding.state for finding in found} == {State.OK}
    assert objects.names("") == before
    objects.remove(["_store.json"])
    [finding] = place_findings(Settings(data_dir=where), 0)
    assert "its record is lost, and the tables of 1 users are there" in finding.says
