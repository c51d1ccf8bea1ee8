"""Exports of chats, read: what was said and shown, when and by whom, conversation by conversation.

conversations.py   what they are read into
export.py          the file, folder or zip archive that an export is, read within bounds
formats.py         the kinds that there are
recognition.py     which kind it is
chatgpt.py, claude.py, telegram.py, whatsapp.py
fields.py          values of JSON that anybody may have written

Whatever a reader cannot make sense of raises InvalidInput with the file and the place in it, never with what is there.
"""
