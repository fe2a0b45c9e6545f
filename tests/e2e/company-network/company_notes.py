"""An MCP server without dependencies, for a package: its tool `env` shows a variable."""

import json
import os
import sys

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def result_of(method, params):
    if method == "initialize":
        info = {"name": "company-notes", "version": "1.0.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": "env", "inputSchema": SCHEMA}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": os.environ.get(params["arguments"]["name"], "unset")}]}
    return None


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = result_of(message["method"], message.get("params", {}))
        answer = {"error": {"code": -32601, "message": "unknown"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
