import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

const name = 'tocsin_session';

/** Returns the session token of a request. */
export const readSessionCookie = ({ headers }: FastifyRequest): string | undefined =>
  headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];

type Cookie = { token: string; expiresAt: Date };

/** Sets the cookie: never readable by scripts, never sent by other sites, and over HTTPS only if the request came over it. */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, { token, expiresAt }: Cookie): void {
  const value = stringifySetCookie({
    name,
    value: token,
    path: `${request.server.basePath}/`,
    httpOnly: true,
    sameSite: 'strict',
    secure: isHttps(request),
    expires: expiresAt,
  });
  void reply.header('set-cookie', value).header('cache-control', 'no-store');
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  setSessionCookie(request, reply, { token: '', expiresAt: new Date(0) });
}

/**
 * Returns whether a request came over HTTPS, also if a proxy in front says so in a header. A client that lies about it only restricts its
 * own cookie.
 */
export const isHttps = ({ protocol, headers }: FastifyRequest): boolean =>
  protocol === 'https' || headers['x-forwarded-proto'] === 'https';
