import { z } from 'zod';
import { boundedString } from '../../lib/text/bounded-text.ts';

export const SignInInput = z.strictObject({ key: boundedString({ min: 1, max: 500 }).describe('An API key.') });
export const SignInLinkInput = z.strictObject({
  token: boundedString({ min: 1, max: 100 }).describe('The part of a sign-in link after `#`.'),
});

export const SignedIn = z.object({ expiresAt: z.string() });

export const CurrentSession = z
  .object({
    organization: z.object({ id: z.string(), name: z.string() }),
    scopes: z.array(z.string()).describe('What this access includes.'),
    sessionId: z.string().nullable().describe('Null if the request carries an API key instead of a session.'),
    subject: z
      .string()
      .nullable()
      .describe('Who signed in: the name of a key or an e-mail address. Null without a session.'),
    personId: z.string().nullable().describe('The person who signed in. Null for a key.'),
  })
  .meta({ id: 'CurrentSession' });
export type CurrentSession = z.infer<typeof CurrentSession>;

export const Session = z
  .object({
    id: z.string(),
    subject: z.string().describe('Who signed in: the name of a key or an e-mail address.'),
    keyId: z.string().nullable().describe('The key that signed in. The session ends when the key is revoked.'),
    personId: z.string().nullable().describe('The person who signed in. The session ends when the person is disabled.'),
    createdAt: z.string(),
    lastSeenAt: z.string(),
    expiresAt: z.string(),
    isCurrent: z.boolean(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

export const SessionList = z.object({ sessions: z.array(Session), nextCursor: z.string().nullable() });
export type SessionList = z.infer<typeof SessionList>;

export const EndedSession = z.object({ id: z.string() });
