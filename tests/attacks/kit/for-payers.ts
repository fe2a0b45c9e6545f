/** All may use everything but what costs: `paid` wants a scope in the token, `led` a group. */
export const FOR_PAYERS = `[access]
defaultPolicy = "opt-out"
[[access.scopes]]
match = "paid.*"
scopes = ["pay"]
[[access.rules]]
match = "led.*"
when = '!("payers" in principal.groups)'
effect = "deny"`;
