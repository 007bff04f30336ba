import { z } from 'zod';
import { IdPath } from '../../detection/detections/record/detection-input.schema.ts';

const Time = z.string().meta({ format: 'date-time' });

export const AgentRun = z
  .object({
    id: z.string(),
    agentId: z.string(),
    status: z.enum(['running', 'completed', 'failed']),
    slotAt: Time.nullable().describe('Null for the first run after the schedule was set.'),
    startedAt: Time,
    finishedAt: Time.nullable(),
    modelAlias: z.string(),
    model: z.string().nullable().describe('Null if the agent worked without a model.'),
    tokens: z.number(),
    costUsd: z.number(),
    outcome: z.record(z.string(), z.unknown()).describe('Results of the run. The fields depend on the agent.'),
    failure: z.object({ kind: z.string(), blame: z.string(), retryable: z.boolean(), message: z.string() }).nullable(),
  })
  .meta({ id: 'AgentRun' });
export type AgentRun = z.infer<typeof AgentRun>;

export const AgentRunPath = IdPath.extend({ runId: IdPath.shape.id });

export const AgentRunList = z.object({ runs: z.array(AgentRun), nextCursor: z.string().nullable() });
export type AgentRunList = z.infer<typeof AgentRunList>;
