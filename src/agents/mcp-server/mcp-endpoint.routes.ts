import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { disconnectSignal } from '../../platform/http/connections.ts';
import { requestIdHeader } from '../../platform/http/request-log.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import type { CurrentSession } from '../../platform/orgs/sessions/sessions.schema.ts';
import { describeProblem, type ProblemBody } from '../../detection/as-code/service-client.ts';
import type { CallApi } from './tools/tool.ts';

type McpEndpointDeps = { config: OriginSettings & { isMcpWriteEnabled: boolean } };

/**
 * Serves the MCP server at `/mcp` over streamable HTTP, without sessions: each request is complete in itself, so any process can answer
 * it. A tool calls the API of this process with the caller's key, so that scopes, limits, validation and audit are those of the API.
 */
export function mcpEndpointRoutes(app: App, { config }: McpEndpointDeps): void {
  app.route({
    method: 'POST',
    url: '/mcp',
    config: { needsNoScope: true },
    schema: { hide: true },
    onRequest: (request, _reply, done) => {
      checkOrigin(request.headers, config);
      done();
    },
    handler: async (request, reply) => {
      if (requireCaller(request).keyId === null || request.headers.authorization === undefined)
        throw appError('forbidden', 'The MCP server needs an API key, not a session of the console.');
      const { createMcpServer, toolsFor } = await import('./create-mcp-server.ts');
      const callApi = createInjectedCall(app, request, disconnectSignal(reply));
      const session = await callApi<CurrentSession>('GET', '/api/session');
      const tools = toolsFor(session, config.isMcpWriteEnabled);
      if (tools.length === 0) throw appError('forbidden', 'The key has no scope that a tool of the MCP server needs.');
      if (Array.isArray(request.body)) throw fieldError('', 'invalid', 'Send one JSON-RPC message per request.');
      const server = createMcpServer({ session, tools, callApi });
      const { WebStandardStreamableHTTPServerTransport } =
        await import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport);
      try {
        return await send(reply, await transport.handleRequest(toWebRequest(request), { parsedBody: request.body }));
      } finally {
        await server.close();
      }
    },
  });
}

/** Returns a function that sends requests with the key of `request` to the routes of `app`, without a socket. */
const createInjectedCall =
  (app: App, { headers, ip, id }: FastifyRequest, signal: AbortSignal): CallApi =>
  async <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => {
    const response = await app.inject({
      method,
      url: path,
      remoteAddress: ip,
      signal,
      headers: {
        authorization: headers.authorization,
        [requestIdHeader]: id,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    if (response.statusCode === 200) return response.json<T>();
    throw new Error(describeProblem(response.json<ProblemBody>()) ?? `${method} ${path}: ${response.statusCode}`);
  };

function toWebRequest({ headers, body }: FastifyRequest): Request {
  const kept = ['accept', 'content-type', 'mcp-protocol-version'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
  return new Request('http://localhost/mcp', { method: 'POST', headers: kept, body: JSON.stringify(body ?? null) });
}

async function send(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  const type = response.headers.get('content-type');
  const text = await response.text();
  if (type !== null) reply.header('content-type', type);
  return reply.code(response.status).send(text);
}

type OriginSettings = { host: string; publicUrl: string | null; corsOrigins: readonly string[] };

/**
 * Throws 403 for a request that a page of another site sends, directly or through DNS rebinding (MCP specification, "Security Warning" of
 * the streamable HTTP transport). A browser's `Origin` must be `TOCSIN_PUBLIC_URL` or one of `TOCSIN_CORS_ORIGINS`. A service that listens
 * on a loopback address also accepts its own pages, and must be addressed as such, or by `TOCSIN_PUBLIC_URL`.
 */
function checkOrigin({ origin, host }: Pick<IncomingHttpHeaders, 'origin' | 'host'>, settings: OriginSettings): void {
  const own = settings.publicUrl === null ? undefined : new URL(settings.publicUrl);
  const isLocal = isLoopbackName(settings.host) && isLoopbackName(nameOf(host));
  const isOwnPage = origin === own?.origin || (isLocal && origin === `http://${host}`);
  if (origin !== undefined && !isOwnPage && !settings.corsOrigins.includes(origin))
    throw appError(
      'forbidden',
      'Pages of this origin may not use the MCP server. TOCSIN_CORS_ORIGINS lists those that may.',
    );
  if (isLoopbackName(settings.host) && host !== own?.host && !isLocal)
    throw appError('forbidden', 'The Host header must be a loopback address or that of TOCSIN_PUBLIC_URL.');
}

const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || name === '::1' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);

/** Returns the host name of a Host header, without its port. */
const nameOf = (host = ''): string => host.replace(/:\d+$/, '').toLowerCase();
