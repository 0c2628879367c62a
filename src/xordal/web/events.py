"""Events of a run as a stream of server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

from xordal.web.runs import Run


def stream(run: Run) -> StreamingResponse:
    """Return the events of a run from its first, as they come; each connection is told all of them."""
    return StreamingResponse(_lines(run), media_type="text/event-stream")


async def _lines(run: Run) -> AsyncIterator[str]:
    async for event in run.listen():
        if event is None:
            yield ": still here\n\n"
        else:
            kind = event["event"]
            yield f"event: {kind}\ndata: {json.dumps(event)}\n\n"
