"""Calls the tool that each line of its input names: a line for each progress, and one with the text of the result."""

import json
import sys
import warnings

import anyio
from mcp import Client

warnings.simplefilter("ignore")


async def on_progress(progress, _total, _message):
    print(json.dumps({"progress": progress}), flush=True)


async def main(url):
    async with Client(url, mode="legacy", read_timeout_seconds=30, cache=None) as client:
        async for line in anyio.wrap_file(sys.stdin):
            result = await client.call_tool(line.strip(), {}, progress_callback=on_progress)
            print(json.dumps({"text": result.content[0].text}), flush=True)


anyio.run(main, sys.argv[1])
