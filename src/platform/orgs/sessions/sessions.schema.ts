import { z } from 'zod';
import { roles, scopes } from '../../http/caller.ts';
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

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

export const PersonPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

export const Person = z
  .object({
    id: z.string(),
    name: z.string().describe('E-mail address or user name.'),
    role: z
      .enum(roles)
      .nullable()
      .describe('Null for a person from single sign-on whose groups give other scopes than any role.'),
    scopes: z.array(z.string()).describe('What the person may do.'),
    issuer: z.string().nullable().describe('The identity provider of the person. Null for an invited person.'),
    disabled: z.boolean().describe('`true`: the person cannot sign in.'),
    signedInAt: time.nullable().describe('Null: never.'),
    invitedUntil: time
      .nullable()
      .describe('When the link that the person did not open yet expires. Null: there is none.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Person' });
export type Person = z.infer<typeof Person>;

export const PersonList = z.object({ persons: z.array(Person), nextCursor: z.string().nullable() });
export type PersonList = z.infer<typeof PersonList>;

export const NewPerson = z.strictObject({
  name: boundedString({ min: 1, max: 255 }).describe('E-mail address or user name that no other person has.'),
  role: z.enum(roles),
});
export type NewPerson = z.infer<typeof NewPerson>;

export const ChangePerson = z.strictObject({
  role: z.enum(roles).optional().describe('Only of an invited person. Open sessions get it as well.'),
  disabled: z.boolean().optional().describe('`true` ends all sessions of the person.'),
});
export type ChangePerson = z.infer<typeof ChangePerson>;

export const InvitedPerson = Person.extend({
  link: z
    .string()
    .describe(
      'Opens a session of the person, once. Shown only in this response. A path if the service does not know its public address.',
    ),
}).meta({ id: 'InvitedPerson' });
export type InvitedPerson = z.infer<typeof InvitedPerson>;

export const RoleList = z.object({
  roles: z
    .array(z.object({ role: z.enum(roles), scopes: z.array(z.enum(scopes)).describe('What the role includes.') }))
    .describe('The one that may do least first.'),
});
