"""Events of a run as a stream of server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

from xordal.web.runs import Run


def stream(run: Run, last: str, *, now: bool) -> StreamingResponse:
    """Return the events of a run after the one of identifier ``last``, as they come; ``now``: those there are.

    An identifier that is not of this run and server, such as none, stands before the first event.
    """
    return StreamingResponse(_lines(run, last, now), media_type="text/event-stream")


async def _lines(run: Run, last: str, now: bool) -> AsyncIterator[str]:
    async for told in run.listen(last, now=now):
        if told is None:
            yield ": still here\n\n"
        else:
            identifier, event = told
            yield f"id: {identifier}\nevent: {event['event']}\ndata: {json.dumps(event)}\n\n"
