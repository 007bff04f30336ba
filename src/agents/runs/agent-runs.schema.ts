import { z } from 'zod';
import { CostUsd } from '../../platform/lib/schema-parts.ts';
import { IdPath } from '../../detection/detections/record/detection-input.schema.ts';
import { runStatuses } from '../../detection/runs/run-model/runs.schema.ts';

const Time = z.string().meta({ format: 'date-time' });

export const AgentRun = z
  .object({
    id: z.string(),
    agentId: z.string(),
    status: z.enum(runStatuses).describe('Runs of built-in agents are never queued or cancelled.'),
    slotAt: Time.nullable().describe(
      'Null for the first run of a built-in agent after the schedule was set, and for runs of other agents.',
    ),
    startedAt: Time.nullable().describe('Null while the run waits.'),
    finishedAt: Time.nullable(),
    modelAlias: z.string().nullable().describe('Null while the run waits.'),
    model: z.string().nullable().describe('Null if the agent worked without a model.'),
    tokens: z.number(),
    costUsd: CostUsd,
    outcome: z
      .record(z.string(), z.unknown())
      .describe(
        'Results of the run. For a built-in agent, the fields depend on the agent. For another, `event` is what started the run, and `verdict` what it concluded, as in `entities` of `GET /api/runs/{id}`.',
      ),
    failure: z.object({ kind: z.string(), blame: z.string(), retryable: z.boolean(), message: z.string() }).nullable(),
  })
  .meta({ id: 'AgentRun' });
export type AgentRun = z.infer<typeof AgentRun>;

export const AgentRunPath = IdPath.extend({ runId: IdPath.shape.id });

export const AgentRunList = z.object({ runs: z.array(AgentRun), nextCursor: z.string().nullable() });
export type AgentRunList = z.infer<typeof AgentRunList>;
