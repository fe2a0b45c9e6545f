#!/bin/sh
# An MCP server in POSIX sh: it starts in a millisecond or two, so that a test can have many hundreds of it.
# Tools: `echo` answers at once, `slow` after a while, `never` not at all.

# Something that a careless program leaves behind; only its process group leads to it.
sleep 3600 </dev/null >/dev/null 2>&1 &

reply() { printf '{"jsonrpc":"2.0","id":%s,"%s":%s}\n' "$1" "$2" "$3"; }
tool() { printf '{"name":"%s","inputSchema":{"type":"object"}}' "$1"; }

text='{"content":[{"type":"text","text":"here"}]}'
info='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"churn","version":"1"}}'

while IFS= read -r line; do
  case $line in *'"id":'*) ;; *) continue ;; esac
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*) reply "$id" result "$info" ;;
    *'"method":"tools/list"'*) reply "$id" result "{\"tools\":[$(tool echo),$(tool slow),$(tool never)]}" ;;
    *'"name":"never"'*) ;;
    *'"name":"slow"'*) { sleep 0.05; reply "$id" result "$text"; } & ;;
    *'"method":"tools/call"'*) reply "$id" result "$text" ;;
    *) reply "$id" error '{"code":-32601,"message":"no such method"}' ;;
  esac
done
