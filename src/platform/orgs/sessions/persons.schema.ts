import { z } from 'zod';
import { roles, scopes } from '../../http/caller.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';

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
