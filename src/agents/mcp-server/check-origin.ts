import type { IncomingHttpHeaders } from 'node:http';
import { appError } from '../../platform/lib/errors.ts';

export type OriginSettings = { host: string; publicUrl: string | null; corsOrigins: readonly string[] };

/**
 * Throws 403 for a request that a page of another site sends, directly or through DNS rebinding (MCP specification, "Security Warning" of
 * the streamable HTTP transport). A browser's `Origin` must be `TOCSIN_PUBLIC_URL` or one of `TOCSIN_CORS_ORIGINS`. A service that listens
 * on a loopback address also accepts its own pages, and must be addressed as such, or by `TOCSIN_PUBLIC_URL`.
 */
export function checkOrigin(
  { origin, host }: Pick<IncomingHttpHeaders, 'origin' | 'host'>,
  settings: OriginSettings,
): void {
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
