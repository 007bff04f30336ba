import { z } from 'zod';
import { PageQuery } from '../lib/page-request.ts';
import { boundedString } from '../lib/text/bounded-text.ts';
import { scopes } from '../http/caller.ts';
import { Instant } from '../lib/schema-parts.ts';

const Name = boundedString({ min: 1, max: 255 });

export const CreateKeyInput = z.strictObject({
  name: Name,
  scopes: z
    .array(z.enum(scopes))
    .min(1)
    .optional()
    .describe('Default: the scopes of the calling key except `feed:admin`.'),
  expiresAt: Instant.nullable()
    .optional()
    .describe('Default: when the calling key ends. No later, and null only if the calling key never ends.'),
});
export type CreateKeyInput = z.infer<typeof CreateKeyInput>;

export const RotateKeyInput = z.strictObject({
  overlapSeconds: z
    .number()
    .int()
    .min(0)
    .max(2_592_000)
    .optional()
    .describe('How long the old secret stays valid, in seconds. Default: 0.'),
});
export type RotateKeyInput = z.infer<typeof RotateKeyInput>;

export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    createdAt: z.string(),
    expiresAt: z.string().nullable(),
    revokedAt: z.string().nullable(),
    fromEnvironment: z.boolean(),
  })
  .meta({ id: 'Key' });
export type Key = z.infer<typeof Key>;

export const KeyWithSecret = Key.extend({
  key: z.string().nullable().describe('Shown only once. Null in a response replayed by Idempotency-Key.'),
  code: z.literal('secret_already_shown').optional(),
});
export type KeyWithSecret = z.infer<typeof KeyWithSecret>;

export const KeyList = z.object({ keys: z.array(Key), nextCursor: z.string().nullable() });
export type KeyList = z.infer<typeof KeyList>;

export const AuditFilter = z.object({
  actor: boundedString({ min: 1, max: 300 })
    .optional()
    .describe('The ID of a key, or the name of who signed in to the console.'),
  action: boundedString({ min: 1, max: 100 })
    .optional()
    .describe('An action or its beginning: `detection.updated`, or `detection.` for all of detections.'),
  resourceType: boundedString({ min: 1, max: 100 }).optional(),
  resourceId: boundedString({ min: 1, max: 300 }).optional().describe('The ID of what was changed.'),
  from: Instant.optional().describe('Changes at or after this time.'),
  to: Instant.optional().describe('Changes before this time.'),
});
export type AuditFilter = z.infer<typeof AuditFilter>;
export const AuditQuery = PageQuery.extend(AuditFilter.shape);
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditEntry = z
  .object({
    id: z.string(),
    at: z.string(),
    keyId: z.string().nullable(),
    actor: z
      .string()
      .nullable()
      .describe(
        'Who signed in to the console and made the change: a person or the name of a key. Null for other requests.',
      ),
    action: z.string(),
    resourceType: z.string(),
    resourceId: z.string(),
    before: z.unknown(),
    after: z.unknown(),
    sequence: z.int().describe('Place in the chain of the organization, without gaps.'),
    hash: z.string().describe('SHA-256 of the entry and of the hash before it, which `tocsin audit verify` checks.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;
export const AuditList = z.object({ entries: z.array(AuditEntry), nextCursor: z.string().nullable() });
export type AuditList = z.infer<typeof AuditList>;

/** The person or key that signed in to the console. Records have it beside the `keyId` of the API key. */
export const ActorField = z
  .string()
  .nullable()
  .describe('The person or key that signed in, if the change was made with a session of the console.');
