import { z } from 'zod';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiRoutes } from '../../http/api-routes.ts';
import { requireCaller, type App } from '../../http/app-type.ts';
import { appError } from '../../lib/errors.ts';
import { PageQuery } from '../../lib/page-request.ts';
import { clearSessionCookie, setSessionCookie } from './session-authenticator.ts';
import {
  CurrentSession,
  EndedSession,
  SessionList,
  SignedIn,
  SignInInput,
  SignInLinkInput,
} from './sessions.schema.ts';
import {
  endSession,
  getCurrentSession,
  listSessions,
  type SessionsDeps,
  signInWithKey,
  signInWithLink,
  type SignedIn as NewSession,
  type SignInDeps,
} from './sessions.ts';

type SessionRoutesDeps = SessionsDeps &
  SignInDeps & {
    /** Counts a failed sign-in of an address, and throws 429 if there were too many. */
    throttleFailure: (request: FastifyRequest) => void;
  };

const SessionPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

export function sessionRoutes(app: App, deps: SessionRoutesDeps): void {
  const signIn = async (request: FastifyRequest, reply: FastifyReply, start: () => Promise<NewSession>) => {
    const { token, expiresAt } = await start().catch((error: unknown) => {
      deps.throttleFailure(request);
      throw error;
    });
    setSessionCookie(request, reply, { token, expiresAt });
    return { expiresAt: expiresAt.toISOString() };
  };
  app.route({
    method: 'POST',
    url: '/api/session',
    config: { isPublic: true },
    schema: {
      operationId: 'signIn',
      tags: ['sessions'],
      summary: 'Sign in with an API key',
      description: 'Exchanges the key for the cookie of a session, which the console uses in place of the key.',
      security: [],
      body: SignInInput,
      response: { 200: SignedIn },
    },
    handler: (request, reply) => signIn(request, reply, () => signInWithKey(deps, (request.body as SignInInput).key)),
  });
  app.route({
    method: 'POST',
    url: '/api/session/link',
    config: { isPublic: true },
    schema: {
      operationId: 'signInWithLink',
      tags: ['sessions'],
      summary: 'Sign in with the link of an invitation, or on the same machine with one that the service printed',
      security: [],
      body: SignInLinkInput,
      response: { 200: SignedIn },
    },
    handler: (request, reply) =>
      signIn(request, reply, () =>
        signInWithLink(deps, (request.body as SignInLinkInput).token, isLoopback(request.ip)),
      ),
  });
  const own = apiRoutes(app, { tag: 'sessions', scope: null });
  own(
    'GET /api/session',
    { operationId: 'getCurrentSession', summary: 'Get who is signed in', returns: CurrentSession },
    ({ caller }) => getCurrentSession(deps, caller),
  );
  own(
    'DELETE /api/session',
    { operationId: 'signOut', summary: 'Sign out', returns: EndedSession },
    async ({ caller, request, reply }) => {
      const { sessionId } = requireCaller(request);
      if (sessionId === undefined) throw appError('conflict', 'This request carries an API key and not a session.');
      const ended = await endSession(deps, caller, sessionId);
      clearSessionCookie(request, reply);
      return ended;
    },
  );
  const route = apiRoutes(app, { tag: 'sessions', scope: 'keys:admin' });
  route(
    'GET /api/sessions',
    {
      operationId: 'listSessions',
      summary: 'List active sessions, newest first',
      query: PageQuery,
      returns: SessionList,
    },
    ({ caller, query }) => listSessions(deps, caller, query),
  );
  route(
    'DELETE /api/sessions/:id',
    { operationId: 'endSession', summary: 'End a session', params: SessionPath, returns: EndedSession },
    ({ caller, params }) => endSession(deps, caller, params.id),
  );
}

type SignInInput = z.infer<typeof SignInInput>;
type SignInLinkInput = z.infer<typeof SignInLinkInput>;

const isLoopback = (address: string): boolean => /^(::ffff:)?127\.|^::1$/.test(address);
