import { z } from 'zod';
import { fieldError } from '../../platform/lib/errors.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
import { text } from '../../platform/lib/text/bounded-text.ts';

const printable = text({ min: 1, max: 4_000 }).regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');
const managed = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'cookie']);

/** How a source is asked with a credential; it goes to the source's own origin alone. */
export const SourceAuth = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('basic'),
    username: printable.regex(/^[^:]*$/, 'may hold no colon'),
    password: printable,
  }),
  z.strictObject({ type: z.literal('bearer'), token: printable }),
  z.strictObject({
    type: z.literal('header'),
    name: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, 'must be the name of a header')
      .refine((name) => !managed.has(name.toLowerCase()), 'is a header that is set otherwise'),
    value: printable,
  }),
]);
export type SourceAuth = z.infer<typeof SourceAuth>;

type Ref = { organization_id: string; id: string };
const contextOf = ({ organization_id, id }: Ref): string => `source/${organization_id}/${id}`;

export const sealAuth = (secrets: Secretbox, ref: Ref, auth: SourceAuth): Buffer =>
  secrets.seal(JSON.stringify(auth), contextOf(ref));

/** The request headers of a source's credential. */
export function authHeaders(
  secrets: Secretbox,
  source: Ref & { sealed_auth: Buffer | null },
): Record<string, string> | undefined {
  if (!source.sealed_auth) return undefined;
  const auth = JSON.parse(secrets.open(source.sealed_auth, contextOf(source))) as SourceAuth;
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
 * What is kept of a credential when a source is made or changed: undefined leaves it, null removes it. One that was given for a host does
 * not go to another by a change of the address.
 */
export function changedAuth(
  secrets: Secretbox,
  source: Ref & { url: string; sealed_auth: Buffer | null },
  { auth, url }: { auth: SourceAuth | null | undefined; url: string },
): Buffer | null {
  if (auth && url.startsWith('file:')) throw fieldError('/auth', 'not_for_files', 'A file is read without auth.');
  if (auth === null) return null;
  if (auth) return sealAuth(secrets, source, auth);
  if (source.sealed_auth && new URL(url).origin !== new URL(source.url).origin)
    throw fieldError('/auth', 'required', 'The address leads to another host: give auth again, or null for none.');
  return source.sealed_auth;
}
