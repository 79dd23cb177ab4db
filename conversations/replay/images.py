"""An image block of one dialect, written in another."""

from conversations.vocabulary import Dialect

type Json = dict[str, object]


def image_block(block: Json, dialect: Dialect) -> Json:
    """Return the block in `dialect`; a file held by the other provider becomes a note in its place."""
    url = _url_of(block)
    if url is None:
        return {"type": _TEXT[dialect], "text": "[an image that the other provider holds]"}
    if dialect == Dialect.OPENAI_CHAT:
        return {"type": "image_url", "image_url": {"url": url}}
    if dialect == Dialect.OPENAI_RESPONSES:
        return {"type": "input_image", "image_url": url}
    return {"type": "image", "source": _source(url)}


_TEXT = {
    Dialect.ANTHROPIC_MESSAGES: "text",
    Dialect.OPENAI_CHAT: "text",
    Dialect.OPENAI_RESPONSES: "input_text",
}


def _url_of(block: Json) -> str | None:
    source = block.get("source")
    if isinstance(source, dict):
        if source.get("type") == "base64":
            return f"data:{source.get('media_type')};base64,{source.get('data')}"
        url = source.get("url")
    else:
        url = block.get("image_url")
        if isinstance(url, dict):
            url = url.get("url")
    return url if isinstance(url, str) else None


def _source(url: str) -> Json:
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    head, _, data = url[5:].partition(",")
    return {"type": "base64", "media_type": head.partition(";")[0], "data": data}
