import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

// Schemas of the reference data files in the data directory.
const text = z.string().max(1_000);
const texts = z.array(text).max(10_000);
const AliasedName = z.object({ name: text, aliases: texts.default([]) });
/** Files of earlier versions have no ids. */
const attackNameId = z
  .string()
  .regex(/^[GS]\d{4}$/)
  .optional();

export const AttackFile = z.object({
  attackVersion: text.optional(),
  tactics: z.array(z.object({ id: text, name: text, shortName: text })).max(1_000),
  techniques: z
    .array(
      z.object({
        id: z.string().regex(/^T\d{4}(?:\.\d{3})?$/),
        name: text,
        tactics: texts,
        platforms: texts,
        revokedBy: text.optional(),
        deprecated: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(20_000),
  groups: z
    .array(AliasedName.extend({ id: attackNameId }))
    .max(20_000)
    .default([]),
  software: z
    .array(AliasedName.extend({ id: attackNameId, type: z.enum(['malware', 'tool']) }))
    .max(50_000)
    .default([]),
});
export type AttackFile = z.infer<typeof AttackFile>;

export const NamesFile = z.object({
  names: z
    .array(AliasedName.extend({ kind: text }))
    .min(1)
    .max(200_000),
});
export type NamesFile = z.infer<typeof NamesFile>;

export const WarningListFile = z.object({
  name: z.string().max(500),
  type: z.string().max(50),
  list: z.array(text).max(2_000_000),
});
export const WarningListsFile = z.object({
  lists: z.array(WarningListFile.extend({ id: z.string().max(200) })).max(1_000),
});

const unpackedMaxBytes = 256 * 1024 * 1024;

/** Parses plain or gzipped JSON. Throws an Error with the name of the document. */
export function parseDocument(bytes: Buffer, name: string): unknown {
  try {
    const plain = bytes[0] === 0x1f ? gunzipSync(bytes, { maxOutputLength: unpackedMaxBytes }) : bytes;
    return JSON.parse(new TextDecoder().decode(plain));
  } catch (error) {
    throw new Error(`${name} is not plain or gzipped JSON`, { cause: error });
  }
}

/** Validates a document. Throws an Error with its name and the first invalid field. */
export function validateDocument<T>(schema: z.ZodType<T>, document: unknown, name: string): T {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`${name} is invalid: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}
