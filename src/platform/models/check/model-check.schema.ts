import { z } from 'zod';
import { OutputWay } from '../model-request.ts';

export const modelCheckNames = ['tools', 'structuredOutput', 'longInput', 'truncation'] as const;

export const ModelCheck = z.object({
  alias: z.string(),
  model: z.string().describe('Provider and model.'),
  ok: z.boolean().describe('All checks passed, so that detections can use the alias with every feature.'),
  checkedAt: z.string(),
  callsTools: z
    .boolean()
    .describe('Whether conversations use tools. Without them, detections are judged by their rows.'),
  answersBy: OutputWay.nullable().describe(
    'How the alias submits its answer: `schema` as text in a JSON schema, `tool` as the input of a tool, `text` as JSON in plain text. Null: it submits none.',
  ),
  latencyMs: z.int().nullable().describe('The time of a short structured answer, in milliseconds.'),
  costUsd: z
    .number()
    .nullable()
    .describe('The cost of the check at the configured price, in US dollars. Null without one.'),
  checks: z.array(
    z.object({
      name: z.enum(modelCheckNames),
      ok: z.boolean(),
      ms: z.int(),
      detail: z.string().describe('What was found.'),
      remedy: z.string().nullable().describe('What to change. Null if the check passed.'),
    }),
  ),
});
export type ModelCheck = z.infer<typeof ModelCheck>;
