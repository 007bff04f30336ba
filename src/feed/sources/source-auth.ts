import { z } from 'zod';
import { fieldError } from '../../platform/lib/errors.ts';
import {
  openJson,
  sealJson,
  type SealedColumn,
  type SealedRecord,
  type Secretbox,
} from '../../platform/lib/secretbox.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

const kind = 'source';
export const sourceAuthColumn: SealedColumn = { table: 'feed_sources', column: 'sealed_auth', kind };

const printable = boundedString({ min: 1, max: 4_000 }).regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');
const managedHeaders = /^(?:host|connection|content-length|transfer-encoding|accept-encoding|cookie)$/i;

/** A credential of a source. It is sent only to the origin of the source's address. */
export const SourceAuth = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('basic'),
    username: printable.regex(/^[^:]*$/, 'must not contain a colon'),
    password: printable,
  }),
  z.strictObject({ type: z.literal('bearer'), token: printable }),
  z.strictObject({
    type: z.literal('header'),
    name: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, 'must be a header name')
      .refine((name) => !managedHeaders.test(name), 'is a header that the service sets itself'),
    value: printable,
  }),
]);
export type SourceAuth = z.infer<typeof SourceAuth>;

/** Returns the request headers of a source's credential. */
export function openAuthHeaders(
  secrets: Secretbox,
  source: SealedRecord & { sealed_auth: Buffer | null },
): Record<string, string> | undefined {
  if (!source.sealed_auth) return undefined;
  const auth = openJson<SourceAuth>(secrets, kind, source, source.sealed_auth);
  switch (auth.type) {
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` };
    case 'bearer':
      return { authorization: `Bearer ${auth.token}` };
    case 'header':
      return { [auth.name.toLowerCase()]: auth.value };
  }
}

/**
 * Returns the sealed credential of a source that is created or changed. undefined keeps the current credential, null removes it. Throws a 400
 * if the address changes to another origin while the credential is kept.
 */
export function resolveSealedAuth(
  secrets: Secretbox,
  source: SealedRecord & { url: string; sealed_auth: Buffer | null },
  { auth, url }: { auth: SourceAuth | null | undefined; url: string },
): Buffer | null {
  if (auth && url.startsWith('file:')) throw fieldError('/auth', 'not_for_files', '`auth` is not valid for a file.');
  if (auth === null) return null;
  if (auth) return sealJson(secrets, kind, source, auth);
  if (source.sealed_auth && new URL(url).origin !== new URL(source.url).origin)
    throw fieldError('/auth', 'required', '`url` has another host. Send `auth` again, or null to remove it.');
  return source.sealed_auth;
}
