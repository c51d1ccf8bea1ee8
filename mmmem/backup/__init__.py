"""Everything that a store keeps, as a file of lines, and back; and the same encoded anew under other models.

lines.py       the format: one line a request, each with its checksum (docs/backup.md)
exporting.py   a store to lines
importing.py   lines to a store
filling.py     requests put into a store in their order, encoded side by side
reindexing.py  every user of a store encoded anew, one after the other
"""
