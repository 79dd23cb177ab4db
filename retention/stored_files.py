"""The files of blob storage in the order of their keys: "4f/4f0c…", a folder for each first two digits."""

from collections.abc import Iterator

from conversations.services.blobs import blob_storage


def keys_after(last: str) -> Iterator[str]:
    """Walk the keys behind `last`, "" for all; the names of one folder are held at a time."""
    storage, behind = blob_storage(), last.partition("/")[0]
    try:
        folders = sorted(storage.listdir("")[0])
    except FileNotFoundError:
        return
    for folder in folders:
        if folder < behind:
            continue
        keys = sorted(f"{folder}/{name}" for name in storage.listdir(folder)[1])
        yield from (key for key in keys if key > last)
