"""Where memories live: one LanceDB table per user, and that user's arrays in memory for search.

protocol.py    what the rest of the service sees of a store
users.py       the store: a table for each user
lance.py       LanceDB, and the only place that imports it
location.py    where a store lies: folder.py, or bucket.py with objects.py; one table there: folder_place.py, bucket_place.py
record.py      the format and the models of a store, and of each table
table.py       one user's table: read what is new, commit a group, repair, compact, delete
mending.py     a read that fails, made once more
reading.py     a table's requests, whole, one after the other
reindexing.py  a store whose vectors are replaced by those of other models
inspection.py  every row looked at from outside, without models
retention.py   users whose time is over
roster.py      whose memories there are
log.py         which rows of a table count, and in which order
writer.py      the queue in front of the tables: many requests, one commit
group.py       requests that are committed together, and what becomes of each
index.py       one user's memories as arrays
rows.py        memories to Arrow rows and back
unencoded.py   rows without their vectors, for listing and removing
cache.py       the tables that stay in memory
durability.py  fsync, and what to do about a commit that a power cut tore
hints.py       whether newest commits are gone
volume.py      what a folder holds, in files and bytes
locks.py, faults.py
"""

from mmmem.store.index import UserArrays
from mmmem.store.protocol import Dimensions, Holding, Roster, Store, StoredRequest, Usage
from mmmem.store.volume import Part

__all__ = ["Dimensions", "Holding", "Part", "Roster", "Store", "StoredRequest", "Usage", "UserArrays"]
