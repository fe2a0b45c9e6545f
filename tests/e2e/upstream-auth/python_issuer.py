"""A server on the Python SDK, version 1 (FastMCP) or 2, that is its own authorization server. Its tokens end at once, so that
each call needs a new one. Arguments: the port, and how the token endpoint behaves ("gives" or "refuses")."""

import secrets
import sys
import time
import warnings
from importlib.metadata import version

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, TokenError, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthToken

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # of version 1
    from mcp.server.fastmcp import FastMCP as MCPServer

warnings.simplefilter("ignore")

PORT = int(sys.argv[1])
REFUSES = sys.argv[2] == "refuses"
URL = f"http://127.0.0.1:{PORT}"
LIFE_S = 5


class Provider:
    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.how, self.resources = {}, {}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        code = AuthorizationCode(
            code=secrets.token_hex(20),
            scopes=params.scopes or [],
            expires_at=time.time() + 300,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        if REFUSES:
            said = f"The licence of this \x1b[31mserver\u202e is over ({authorization_code.code}). " + "x" * 5000
            raise TokenError("unauthorized_client", said)
        del self.codes[authorization_code.code]
        return self.give(client, authorization_code.scopes, authorization_code.resource, "code")

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        return self.give(client, scopes, self.resources[refresh_token.token], "refresh")

    def give(self, client, scopes, resource, how):
        access, refresh = secrets.token_hex(20), secrets.token_hex(20)
        end = int(time.time()) + 300
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=end, resource=resource
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        self.resources[refresh] = resource
        self.how[access] = f"{how} by {client.token_endpoint_auth_method} for {resource}"
        return OAuthToken(
            access_token=access, token_type="Bearer", expires_in=LIFE_S, refresh_token=refresh, scope=" ".join(scopes)
        )

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)


provider = Provider()
options = {
    "auth_server_provider": provider,
    "auth": AuthSettings(
        issuer_url=URL,
        resource_server_url=f"{URL}/mcp",
        required_scopes=["tools"],
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["tools"], default_scopes=["tools"]
        ),
        revocation_options=RevocationOptions(enabled=True),
    ),
}
server = MCPServer("python", **options)


@server.tool()
def whoami() -> str:
    """Says which SDK this is, and how the token was got that it was called with."""
    return f"mcp {version('mcp').split('.')[0]}: " + provider.how[get_access_token().token]


if hasattr(server.settings, "port"):
    server.settings.port = PORT
    server.run(transport="streamable-http")
else:
    server.run(transport="streamable-http", port=PORT)
