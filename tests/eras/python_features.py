"""The features of features.ts for the Python SDK: each raises, or returns a word on what came."""

import json
import time
import uuid

import anyio
import mcp_types as types

TIMEOUT_S = 4


class Wrong(Exception):
    pass


def dump(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def expect(condition, found):
    if not condition:
        raise Wrong(json.dumps(found)[:300])


def expect_text(found, text):
    expect(text in json.dumps(found), found)
    return text


async def expect_code(answer, codes):
    try:
        result = await answer
    except Exception as error:
        code = getattr(getattr(error, "error", None), "code", None)
        expect(code in codes, str(error))
        return str(code)
    raise Wrong(f"a result: {dump(result)}")


async def retry(attempt):
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return await attempt()
        except Wrong:
            if time.monotonic() > deadline:
                raise
            await anyio.sleep(0.05)


async def list_tools(driver, offer):
    names = [tool.name for tool in (await driver.client.list_tools()).tools]
    expect(offer["name"] in names, names)
    return offer["name"]


async def call(driver, offer):
    result = await driver.call(offer)
    expect(not result.get("isError"), result)
    return expect_text(result, offer["expect"])


async def structured_output(driver, offer):
    found = (await driver.call(offer)).get("structuredContent")
    expect(found == offer["expect"], found)
    return "equal"


async def progress(driver, offer):
    steps = []

    async def on_progress(done, _total, _message):
        steps.append(done)

    await driver.call(offer, progress_callback=on_progress)

    async def enough():
        expect(len(steps) >= offer["least"], steps)

    # The SDK may hand out the last one after the result.
    await retry(enough)
    expect(len(steps) >= offer["least"] and steps == sorted(set(steps)), steps)
    return f"{len(steps)} steps"


async def logging(driver, offer):
    start = len(driver.heard)
    if driver.is_modern:
        driver.meta = {"io.modelcontextprotocol/logLevel": offer["level"]}
    else:
        await driver.client.set_logging_level(offer["level"])
    await driver.call(offer)
    message = await driver.wait_for("notifications/message", lambda p: offer["expect"] in json.dumps(p["data"]), start)
    if offer.get("twice"):
        await driver.call(offer)
    expect(offer.get("never", "\0") not in json.dumps(driver.heard[start:]), driver.heard[start:])
    driver.meta = None
    return message["params"]["level"]


async def cancel(driver, offer):
    arguments = {"token": str(uuid.uuid4())} if "seen" in offer else offer["arguments"]
    with anyio.CancelScope() as scope:

        async def on_progress(*_):
            scope.cancel()

        await driver.call({**offer, "arguments": arguments}, progress_callback=on_progress)
    expect(scope.cancelled_caught, "answered")
    if "seen" not in offer:
        return await list_tools(driver, offer)
    seen = {"name": offer["seen"], "arguments": arguments, "expect": "yes"}
    return await retry(lambda: call(driver, seen))


async def list_resources(driver, offer):
    uris = [str(one.uri) for one in (await driver.client.list_resources()).resources]
    expect(offer["uri"] in uris, uris)
    return offer["uri"]


async def read_resource(driver, offer):
    return expect_text(dump(await driver.client.read_resource(offer["uri"])), offer["expect"])


async def resource_templates(driver, offer):
    found = [one.uri_template for one in (await driver.client.list_resource_templates()).resource_templates]
    expect(offer["template"] in found, found)
    return await read_resource(driver, offer)


async def missing_resource(driver, offer):
    # Before 2026-07-28 it was -32002, which newer SDKs replace on either side.
    codes = [-32602] if driver.is_modern else [-32602, -32002]
    return await expect_code(driver.client.read_resource(offer["uri"]), codes)


async def prompts(driver, offer):
    names = [prompt.name for prompt in (await driver.client.list_prompts()).prompts]
    expect(offer["name"] in names, names)
    return expect_text(dump(await driver.client.get_prompt(offer["name"], offer["arguments"])), offer["expect"])


async def completion(driver, offer):
    ref = types.PromptReference(type="ref/prompt", name=offer["prompt"])
    result = await driver.client.complete(ref, {"name": offer["argument"], "value": offer["value"]})
    expect(result.completion.values == offer["expect"], result.completion.values)
    return ", ".join(result.completion.values)


def ask(kind):
    async def run(driver, offer):
        start, driver.most_open = len(driver.asked), 0
        detail = await call(driver, offer)
        asked = driver.asked[start:]
        # A server may know the roots from before.
        expect(asked == [kind] * offer.get("questions", 1) or (kind == "roots" and asked == []), asked)
        expect(driver.most_open >= len(asked), "asked one after the other")
        return detail

    return run


async def updates(driver, offer):
    async def touch(start):
        await driver.call(offer)
        await driver.wait_for("notifications/resources/updated", lambda p: p["uri"] == offer["uri"], start)
        if offer.get("twice"):
            await driver.call(offer)

    if driver.is_modern:
        async with driver.client.listen(resource_subscriptions=[offer["uri"]]):
            await touch(len(driver.heard))
    else:
        await driver.client.subscribe_resource(offer["uri"])
        await touch(len(driver.heard))
        await driver.client.unsubscribe_resource(offer["uri"])
    return offer["uri"]


async def list_changed(driver, offer):
    async def grow(start):
        result = await driver.call(offer)
        await driver.wait_for(f"notifications/{offer['list']}/list_changed", lambda _: True, start)
        # The tool names what it has added, as text or as a link.
        added = result["content"][0]
        # Another client may have caused the notification, before the change of our own call was seen.
        if offer["list"] == "tools":
            return await retry(lambda: list_tools(driver, {"name": added["text"]}))
        return await retry(lambda: list_resources(driver, {"uri": added["uri"]}))

    if not driver.is_modern:
        return await grow(len(driver.heard))
    async with driver.client.listen(tools_list_changed=True, resources_list_changed=True):
        return await grow(len(driver.heard))


async def error_result(driver, offer):
    result = await driver.call(offer)
    expect(result.get("isError") is True, result)
    return expect_text(result, offer["expect"])


async def unknown_tool(driver, offer):
    # The gateway says -32601 before 2026-07-28, as MCP-AX demands; the SDKs -32602.
    codes = [-32602] if driver.is_modern else [-32602, -32601]
    return await expect_code(driver.client.call_tool(offer["name"], {}), codes)


elicitation = two_questions = ask("elicitation")
sampling = ask("sampling")
roots = ask("roots")
