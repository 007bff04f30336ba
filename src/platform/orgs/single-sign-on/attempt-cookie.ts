import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isHttps } from '../sessions/session-authenticator.ts';

const name = 'tocsin_sign_in';
const lifeSeconds = 600;

const short = z.string().min(1).max(200);
const Attempt = z.strictObject({ state: short, nonce: short, verifier: short, next: z.string().max(2000) });

/**
 * A sign-in that a browser has started. `state` and `nonce` must come back from the provider, `verifier` is the secret of PKCE, and `next` is
 * the page of the console to open afterwards.
 */
export type Attempt = z.infer<typeof Attempt>;

/** Stores an attempt in the browser. SameSite=Lax, since the provider's page leads back here. */
export function setAttemptCookie(request: FastifyRequest, reply: FastifyReply, attempt: Attempt): void {
  const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  setCookie(request, reply, { value, maxAge: lifeSeconds });
}

/** Returns the attempt stored in the browser, if there is one, and deletes it there, because an attempt can be used only once. */
export function takeAttemptCookie(request: FastifyRequest, reply: FastifyReply): Attempt | undefined {
  const value = parseCookie(request.headers.cookie ?? '')[name];
  if (value === undefined) return undefined;
  setCookie(request, reply, { value: '', maxAge: 0 });
  try {
    return Attempt.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

function setCookie(request: FastifyRequest, reply: FastifyReply, fields: { value: string; maxAge: number }): void {
  const path = `${request.server.basePath}/api/session/single-sign-on`;
  void reply.header(
    'set-cookie',
    stringifySetCookie({ name, path, httpOnly: true, sameSite: 'lax', secure: isHttps(request), ...fields }),
  );
}
