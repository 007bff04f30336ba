import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { atFileEnd } from '../at-file-end.ts';

type Options = { redirectUri: string; groups: Record<string, string[]> };
type Grant = { addOIDCScope: (scope: string) => void; save: () => Promise<string> };
type Context = {
  oidc: {
    provider: { Grant: new (fields: { clientId: string; accountId: string }) => Grant };
    client: { clientId: string };
    session: { accountId: string };
  };
};

/**
 * Starts a real OpenID Connect provider. It accepts every login name and password, and asks nobody for consent. Its host is `localhost`, so
 * that it is another site than the console at `127.0.0.1`.
 */
export async function startIdentityProvider({ redirectUri, groups }: Options) {
  let handle: RequestListener = (_request, response) => response.end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atFileEnd(() => server.close().closeAllConnections());
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const client = { client_id: 'tocsin', client_secret: 'a secret: with / signs', redirect_uris: [redirectUri] };
  const scope = 'openid email groups';
  const provider = new Provider(issuer, {
    clients: [client],
    scopes: scope.split(' '),
    claims: { openid: ['sub'], email: ['email'], groups: ['groups'] },
    findAccount: (_context: Context, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, groups: groups[id] ?? [] }),
    }),
    loadExistingGrant: async ({ oidc: { provider: own, client: asking, session } }: Context) => {
      const grant = new own.Grant({ clientId: asking.clientId, accountId: session.accountId });
      grant.addOIDCScope(scope);
      await grant.save();
      return grant;
    },
  });
  handle = provider.callback();
  return { issuer, scope, clientId: client.client_id, clientSecret: client.client_secret };
}
