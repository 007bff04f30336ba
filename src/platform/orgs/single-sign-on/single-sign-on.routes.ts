import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../http/app-type.ts';
import { setSessionCookie } from '../sessions/session-authenticator.ts';
import type { SignInDeps } from '../sessions/sessions.ts';
import {
  setAttemptCookie,
  takeAttemptCookie,
  type Attempt,
  createIdentityProvider,
  type IdentityProvider,
  SignInError,
  signInWithProvider,
  toSignInError,
} from './identity-provider.ts';
import type { OidcSettings } from './oidc-settings.ts';

type SingleSignOnDeps = Omit<SignInDeps, 'config'> & {
  config: SignInDeps['config'] & { oidc: OidcSettings | null; fetchAllow: readonly string[] };
  /** Counts a failed sign-in of an address, and throws 429 if there were too many. */
  throttleFailure: (request: FastifyRequest) => void;
};

const base = '/api/session/single-sign-on';
const home = '/console/';

const SingleSignOn = z.object({
  url: z
    .string()
    .nullable()
    .describe('Address at which a browser starts to sign in. Null if single sign-on is not configured.'),
});

/** Registers the address of single sign-on, and its two pages if it is configured. */
export function singleSignOnRoutes(app: App, deps: SingleSignOnDeps): void {
  const { oidc, fetchAllow } = deps.config;
  app.route({
    method: 'GET',
    url: base,
    config: { isPublic: true },
    schema: {
      tags: ['sessions'],
      operationId: 'getSingleSignOn',
      summary: 'Get the address at which single sign-on starts',
      security: [],
      response: { 200: SingleSignOn },
    },
    handler: () => ({ url: oidc && `${oidc.publicUrl}${base}/start` }),
  });
  if (oidc) flowRoutes(app, deps, { oidc, provider: createIdentityProvider(oidc, fetchAllow) });
}

/** The pages that a browser visits: `start` leads to the provider, which leads back to `callback`. Both end at a page of the console. */
function flowRoutes(
  app: App,
  deps: SingleSignOnDeps,
  { oidc, provider }: { oidc: OidcSettings; provider: IdentityProvider },
): void {
  const config = { isPublic: true, usesPrimary: true };
  const schema = { hide: true };
  const redirect = (reply: FastifyReply, url: string): FastifyReply =>
    reply.header('cache-control', 'no-store').redirect(url);
  const redirectToProblem = (request: FastifyRequest, reply: FastifyReply, error: SignInError, next: string) => {
    request.log.warn({ problem: error.problem, err: error }, 'single sign-on failed');
    const search = new URLSearchParams({ problem: error.problem, request: request.id });
    if (next !== home) search.set('next', next);
    return redirect(reply, `${oidc.publicUrl}${home}sign-in?${search}`);
  };
  app.get(`${base}/start`, { config, schema }, async (request, reply) => {
    const next = readNext(request);
    try {
      const { url, attempt } = await provider.start(next);
      setAttemptCookie(request, reply, attempt);
      return redirect(reply, url.href);
    } catch (error) {
      return redirectToProblem(request, reply, toSignInError(error), next);
    }
  });
  app.get(`${base}/callback`, { config, schema }, async (request, reply) => {
    const attempt = takeAttemptCookie(request, reply);
    try {
      const signedIn = await signInWithProvider({ ...deps, provider, groups: oidc.groups }, searchOf(request), attempt);
      setSessionCookie(request, reply, signedIn);
      return redirect(reply, `${oidc.publicUrl}${nextOf(attempt)}`);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      deps.throttleFailure(request);
      return redirectToProblem(request, reply, error, nextOf(attempt));
    }
  });
}

const searchOf = ({ url }: FastifyRequest): URLSearchParams => new URL(url, 'http://localhost').searchParams;

/** Returns the page to open after signing in. Only pages of the console: a link from elsewhere must not lead away. */
const readNext = (request: FastifyRequest): string => toPage(searchOf(request).get('next'));
const nextOf = (attempt: Attempt | undefined): string => toPage(attempt?.next);
const toPage = (next: string | null | undefined): string =>
  next && next.length <= 2000 && /^\/console\/[\x21-\x7e]*$/.test(next) ? next : home;
