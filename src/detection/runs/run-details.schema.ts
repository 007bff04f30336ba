import { z } from 'zod';
import { text } from '../../platform/lib/text/bounded-text.ts';
import { RunVerdict } from './runs.schema.ts';

const tokens = z.object({ input: z.number(), output: z.number() });

export const RunStep = z.object({
  attempt: z.number().int(),
  n: z.number().int().describe('Counts within the attempt.'),
  kind: z.enum(['plan', 'call', 'tool']),
  entity: z.string().describe("Whom it is about; in a built-in agent's run the feed item."),
  at: z.string(),
  ms: z.number(),
  model: z.string(),
  tokens,
  costUsd: z.number(),
  sent: z.unknown().optional().describe('Messages that are new since the step before.'),
  text: z.string().optional(),
  toolCalls: z.unknown().optional(),
  tool: z
    .object({ name: z.string(), input: z.unknown(), output: z.string(), simulated: z.boolean(), failed: z.boolean() })
    .optional(),
  error: z.string().optional(),
});
export type RunStep = z.infer<typeof RunStep>;

export const StepList = z.object({ steps: z.array(RunStep), nextCursor: z.string().nullable() });
export type StepList = z.infer<typeof StepList>;

export const ModelList = z.object({
  models: z.array(
    z.object({
      alias: z.string(),
      model: z.string().describe('Provider and model, or `analyst`.'),
      local: z.boolean(),
      price: z.object({ inputPerMillion: z.number(), outputPerMillion: z.number() }),
      paused: z.object({ since: z.string(), kind: z.string(), message: z.string() }).nullable(),
    }),
  ),
});
export type ModelList = z.infer<typeof ModelList>;

export const Agreement = z.object({
  reviewed: z.number().int().describe('Hits that people judged and the judge model too.'),
  agreed: z.number().int(),
  agreement: z.number().nullable().describe('Per cent.'),
});
export type Agreement = z.infer<typeof Agreement>;

export const ReplayRequest = z.strictObject({
  promptVersion: z.int().min(1).optional().describe('Default: the one that the run used.'),
  modelAlias: text({ max: 64 }).optional().describe('Default: the one that the run used.'),
  limit: z.int().min(1).max(20).default(10).describe('Candidates that are judged again.'),
});
export type ReplayRequest = z.infer<typeof ReplayRequest>;

const Compared = z.object({
  candidateId: z.string(),
  entity: z.string(),
  before: RunVerdict.nullable().describe('Null for one that was suppressed or still waits.'),
  after: RunVerdict.nullable().describe('As it would stand, held against the rows.'),
  failure: z.object({ kind: z.string(), message: z.string() }).nullable(),
  differs: z.array(z.string()).describe('triggered, severity, confidence (by 10 or more), evidence.'),
});
export type Compared = z.infer<typeof Compared>;

export const ShadowInput = z.strictObject({
  promptVersion: z.int().min(1).optional(),
  modelAlias: text({ max: 64 }).optional(),
});
export type ShadowInput = z.infer<typeof ShadowInput>;

export const Shadow = z.object({
  shadow: z
    .object({ promptVersion: z.number().int().nullable(), modelAlias: z.string().nullable(), since: z.string() })
    .nullable()
    .describe('Null: none judges alongside. What is null in it is as the detection has it.'),
  compared: z.number().int(),
  differing: z.number().int(),
  differences: z.array(Compared.extend({ runId: z.string(), at: z.string() })).describe('The latest 50.'),
});
export type Shadow = z.infer<typeof Shadow>;

export const Replay = z.object({
  runId: z.string(),
  promptVersion: z.number().int(),
  modelAlias: z.string(),
  model: z.string(),
  tokens: z.number(),
  costUsd: z.number(),
  candidates: z.number().int().describe('Of the run; beyond `limit` they are not judged again.'),
  compared: z.array(Compared),
});
export type Replay = z.infer<typeof Replay>;
