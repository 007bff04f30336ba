import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { detectionCategories } from '../../../detection/analysis/registry.ts';
import { logKinds, type LogKind } from '../log-kinds.ts';

const texts = z.array(z.string());
const sampleSchema = z.union([z.string(), z.record(z.string(), z.union([z.string(), z.number()]))]);

/** The parts of an event by name. A string is short for the main part of the log kind. */
export type EventSample = z.infer<typeof sampleSchema>;

/** Samples of a file. One with `times` stands for as many events, in which `{n}` is the number of the event from 0. */
const samplesSchema = z.array(sampleSchema).transform((samples) =>
  samples.flatMap((sample) => {
    if (typeof sample === 'string') return [sample];
    const { times = 1, ...parts } = sample;
    return Array.from({ length: Number(times) }, (_, n) => numberParts(parts, n));
  }),
);

const numberParts = (parts: Exclude<EventSample, string>, n: number): EventSample =>
  Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace('{n}', String(n)) : value,
    ]),
  );

const QueryTemplate = z.strictObject({
  id: z.string(),
  techniques: texts.min(1),
  name: z.string(),
  kind: z.enum(Object.keys(logKinds) as LogKind[]),
  /** Required parts besides the main one. */
  needs: texts.default([]),
  category: z.enum(detectionCategories).default('custom'),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  /** Regular expressions (RE2) that parts in lower case must match. A string is short for the main part of the log kind. */
  where: z.union([z.string(), z.record(z.string(), z.string())]),
  /** Regular expressions that parts in lower case must not match. */
  except: z.record(z.string(), z.string()).default({}),
  /** Groups by other columns, or turns the query into a count per entity: SQL in which `{part}` is the expression of a part. */
  having: z.strictObject({ columns: z.string(), condition: z.string().optional() }).optional(),
  /** Benign causes, for the system prompt. */
  benign: z.string(),
  /** Events that the query finds. Each has its own entity unless the sample sets one. */
  match: samplesSchema,
  /** Similar events that the query does not find. */
  noMatch: samplesSchema,
});

/** A query for a technique that can be compiled for any dataset with logs of one kind. */
export type QueryTemplate = z.infer<typeof QueryTemplate>;

const families = [
  'execution',
  'persistence',
  'evasion',
  'credentials',
  'discovery',
  'movement',
  'impact',
  'cloud',
] as const;

/** Every query template. Each family of techniques has a file. */
export const queryTemplates: readonly QueryTemplate[] = families.flatMap((family) =>
  z.array(QueryTemplate).parse(parse(readFileSync(resolve(import.meta.dirname, `${family}.yaml`), 'utf8'))),
);
