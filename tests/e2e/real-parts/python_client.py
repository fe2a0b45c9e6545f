"""Answers each line of its input with one of output: an empty object with all tools, a name and arguments with a result."""

import json
import sys
import warnings

import anyio
from mcp import Client

warnings.simplefilter("ignore")


def dump(value):
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main(url):
    async with Client(url, mode="auto", read_timeout_seconds=20, cache=None) as client:
        async for line in anyio.wrap_file(sys.stdin):
            question = json.loads(line)
            if "name" in question:
                answer = dump(await client.call_tool(question["name"], question["arguments"]))
            else:
                answer = [dump(tool) for tool in (await client.list_tools()).tools]
            print(json.dumps(answer), flush=True)


anyio.run(main, sys.argv[1])
