import { z } from 'zod';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { ActorField } from '../../../platform/orgs/orgs.schema.ts';
import { IdPath } from '../../detections/record/detection-input.schema.ts';

const Id = IdPath.shape.id;
const time = z.string().meta({ format: 'date-time' });
const states = ['waiting', 'approved', 'done', 'failed', 'declined', 'expired'] as const;

export const AgentCall = z
  .object({
    id: z.string(),
    agentId: z.string(),
    agentName: z.string(),
    runId: z.string(),
    hitId: z.string().nullable(),
    tool: z
      .string()
      .describe('`set_hit_status`, `propose_exception`, `propose_detection`, or the tool of an MCP server.'),
    input: z.record(z.string(), z.unknown()).describe('The arguments. An approval counts for these and no others.'),
    inputHash: z.string().describe('SHA-256 of tool and arguments.'),
    reason: z.string().describe('What the agent found, as far as it is proven.'),
    state: z
      .enum(states)
      .describe(
        'A call that is `approved` is being executed. If it stays so, the service stopped meanwhile: look up at the other side whether it was done.',
      ),
    result: z.string().nullable().describe('What the executed call returned, or why it failed.'),
    createdAt: time,
    expiresAt: time,
    decidedAt: time.nullable(),
    keyId: z.string().nullable().describe('The API key that decided.'),
    actor: ActorField,
  })
  .meta({ id: 'AgentCall' });
export type AgentCall = z.infer<typeof AgentCall>;

export const AgentCallList = z.object({ calls: z.array(AgentCall), nextCursor: z.string().nullable() });
export type AgentCallList = z.infer<typeof AgentCallList>;

export const AgentCallFilter = PageQuery.extend({
  state: z.enum(states).optional(),
  hitId: Id.optional(),
  agentId: Id.optional(),
  runId: Id.optional(),
});
export type AgentCallFilter = z.infer<typeof AgentCallFilter>;

export const ApproveCall = z.strictObject({
  inputHash: z.string().max(100).describe('The `inputHash` of the call as the person saw it.'),
});
export type ApproveCall = z.infer<typeof ApproveCall>;
