"""An MCP server: an agent's tools for one user's memories. Named so that it is not taken for the library `mcp`, which it is built on.

arguments.py    what the tools take
tools.py        what they do, over the library's Door
answers.py      memories as MCP content, with images that clients take
opening.py      the engine, opened in the background
server.py       the protocol: which tools there are, and how one is called
stdio.py        over standard input and output
http.py         over streamable HTTP
"""
