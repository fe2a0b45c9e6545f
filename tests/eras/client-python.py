"""The client of the Python SDK, with the arguments and the output of drive.ts.

`--mode legacy` speaks 2025-11-25, `--mode modern` nothing but 2026-07-28. The features are those of features.ts.
"""

import argparse
import json
import pathlib
import time
import warnings

import anyio
import mcp_types as types
import python_features
from mcp import Client
from python_features import TIMEOUT_S, Wrong, dump, expect

warnings.simplefilter("ignore")


class Driver:
    """One connection, and everything that came on it unasked."""

    def __init__(self, url, is_modern):
        self.heard, self.asked, self.is_modern = [], [], is_modern
        self.meta, self.open, self.most_open = None, 0, 0
        self.client = Client(
            url,
            mode="auto" if is_modern else "legacy",
            read_timeout_seconds=TIMEOUT_S,
            elicitation_callback=self.on_elicitation,
            sampling_callback=self.on_sampling,
            list_roots_callback=self.on_roots,
            message_handler=self.on_message,
            cache=None,
        )

    async def think(self, kind):
        """Takes a while, so that two questions at once are open together."""
        self.asked.append(kind)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await anyio.sleep(0.1)
        self.open -= 1

    async def on_elicitation(self, _context, _params):
        await self.think("elicitation")
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def on_sampling(self, _context, _params):
        await self.think("sampling")
        content = types.TextContent(type="text", text="an answer of the model")
        return types.CreateMessageResult(role="assistant", model="none", content=content)

    async def on_roots(self, _context):
        await self.think("roots")
        return types.ListRootsResult(roots=[types.Root(uri="file:///eras", name="eras")])

    async def on_message(self, message):
        if not isinstance(message, Exception):
            self.heard.append(dump(message))

    async def call(self, offer, **options):
        return dump(await self.client.call_tool(offer["name"], offer.get("arguments", {}), meta=self.meta, **options))

    async def wait_for(self, method, fits, start):
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            for message in self.heard[start:]:
                if message["method"] == method and fits(message.get("params") or {}):
                    return message
            await anyio.sleep(0.01)
        raise Wrong(f"{method} did not come")


async def try_feature(driver, feature, offer):
    if offer is None:
        return {"outcome": "n/a", "detail": "the server does not have it"}
    try:
        return {"outcome": "ok", "detail": await getattr(python_features, feature.replace("-", "_"))(driver, offer)}
    except Exception as error:
        return failed(error)


def failed(error):
    return {"outcome": "fail", "detail": repr(error)[:400]}


async def main():
    parser = argparse.ArgumentParser()
    for option in ("--url", "--names", "--features", "--mode"):
        parser.add_argument(option, default="")
    args = parser.parse_args()
    offers = json.loads(pathlib.Path(__file__).with_name("names.json").read_text())[args.names]
    left = args.features.split(",")
    try:
        driver = Driver(args.url, args.mode == "modern")
        async with driver.client:
            expect((driver.client.protocol_version == "2026-07-28") == driver.is_modern, driver.client.protocol_version)
            # A server may ask on its own soon after it was opened; a client of 2026-07-28 can answer only while it calls.
            if "ahead" in offers:
                await driver.call(offers["ahead"])
            while left:
                found = await try_feature(driver, left[0], offers.get(left[0]))
                print(json.dumps({"feature": left.pop(0), **found}), flush=True)
    except Exception as error:
        for feature in left:
            print(json.dumps({"feature": feature, **failed(error)}), flush=True)


anyio.run(main)
