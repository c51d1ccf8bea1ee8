"""Everything that a store keeps, as a file of lines, and back; and the same encoded anew under other models.

lines.py       the format: one line a request, each with its checksum (docs/backup.md)
fields.py      what a field may hold
contents.py    a request as its line, and back
exporting.py   a store to lines, which writing.py writes
importing.py   lines to a store; reading.py reads them, order.py knows what came before, problems.py says what is wrong
filling.py     requests put into a store in their order, encoded side by side
reindexing.py  every user of a store encoded anew, one after the other
"""
