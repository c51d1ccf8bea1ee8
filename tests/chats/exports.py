"""Small exports of chats, as the services write them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

NOON = 1_704_110_400  # 2024-01-01 12:00 UTC


def written(path: Path, said: Any) -> Path:
    """As JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


def zipped(path: Path, files: dict[str, bytes | str]) -> Path:
    """An archive of these files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def node(id_: str, parent: str | None, role: str = "user", **message: Any) -> dict[str, Any]:
    """A node of ChatGPT's tree that says its id, or what is given."""
    content = message.pop("content", {"content_type": "text", "parts": [id_]})
    said = {"id": f"m-{id_}", "author": {"role": role}, "create_time": NOON + 0.5, "content": content, **message}
    return {"id": id_, "parent": parent, "message": said}


def chatgpt(*nodes: dict[str, Any], current: str, id_: str = "c1") -> dict[str, Any]:
    """One conversation."""
    return {"conversation_id": id_, "mapping": {each["id"]: each for each in nodes}, "current_node": current}


def shown(pointer: str) -> dict[str, Any]:
    """The content of a message with a picture."""
    asset = {"content_type": "image_asset_pointer", "asset_pointer": pointer}
    return {"content_type": "multimodal_text", "parts": [asset, "Here she is"]}


CLAUDE = [
    {
        "uuid": "c1",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "created_at": "2024-01-01T12:00:00.000000Z",
                "text": "I adopted a cat",
                "content": [{"type": "text", "text": "I adopted a cat"}],
                "attachments": [{"file_name": "notes.txt", "extracted_content": "Her name is Miso"}],
                "files": [{"file_name": "miso.PNG"}, {"file_name": "deed.pdf"}],
            },
            {"uuid": "m2", "sender": "assistant", "text": "How nice", "content": [{"type": "tool_use"}]},
            {"uuid": "m3", "sender": "assistant", "text": "", "content": []},
        ],
    }
]

TELEGRAM = {
    "name": "Bob",
    "type": "personal_chat",
    "id": 77,
    "messages": [
        {"id": 1, "type": "service", "action": "phone_call"},
        {
            "id": 2,
            "type": "message",
            "date_unixtime": str(NOON),
            "from": "Bob",
            "text": ["Look at ", {"type": "bold", "text": "this"}],
            "photo": "photos/red.png",
        },
        {"id": 3, "type": "message", "date_unixtime": str(NOON), "from": None, "text": "I am gone"},
        {"id": 4, "type": "message", "from": "Ann", "text": "", "photo": "(File not included.)"},
        {"id": 5, "type": "message", "from": "Ann", "text": "", "file": "files/a.pdf", "mime_type": "application/pdf"},
    ],
}

IOS = (
    "\ufeff[03/01/24, 09:00:00] Cats: \u200eMessages and calls are end-to-end encrypted.\r\n"
    "[03/01/24, 09:00:05] Ann: I adopted a cat\r\nShe is called Miso: a\r\n\r\ngood name\r\n"
    "\u200e[13/01/24, 21:07:00] \u202aBob\u202c: Here she is\u200e<attached: 0001-PHOTO.png>\r\n"
    "[13/01/24, 21:07:00] Bob: yes\r\n[13/01/24, 21:07:00] Bob: yes\r\n"
    "[14/01/24, 08:00:00] Bob: \u200eimage omitted\r\n"
)

ANDROID = (
    "1/3/24, 9:00\u202fAM - Messages and calls are end-to-end encrypted.\n"
    "1/3/24, 9:00\u202fAM - Ann: I adopted a cat\n"
    "1/13/24, 9:07\u202fPM - Bob: IMG-1.png (file attached)\nHere she is\n"
    "1/13/24, 9:08\u202fPM - Bob: deed.pdf (file attached)\n"
    "1/14/24, 8:00\u202fAM - Bob: <Media omitted>\n"
)
