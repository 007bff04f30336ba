import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { createShape } from '../detections/record/field-types.ts';
import { AgentInput } from '../detections/record/field-schemas.ts';
import { FieldDiff } from '../managed/file-fields.ts';
import { CreateTrigger, UpdateTrigger } from '../detections/triggers/agent-triggers.schema.ts';

/** The `triggers` of a file in `agents/`, whose other fields are those of a response agent. */
export const ShippedTriggers = z.array(CreateTrigger).max(20);
export type ShippedTriggers = z.infer<typeof ShippedTriggers>;

export const ShippedPath = z.object({ name: boundedString({ min: 1, max: 100 }) });

const ShippedAgent = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string().describe('Changes with every change of the shipped agent.'),
  systemPrompt: z.string(),
  toolNames: z.array(z.string()),
  inputs: z.array(AgentInput),
  triggers: ShippedTriggers,
  added: z
    .object({
      agentId: z.string(),
      version: z.string(),
      isCurrent: z.boolean().describe('false: `POST /api/shipped-agents/{name}/update` brings a new version.'),
      editedFields: z.array(z.string()).describe('Fields that you changed since. An update keeps them.'),
    })
    .nullable()
    .describe('The agent that it became. Null if it was not added, or was deleted.'),
});
export type ShippedAgent = z.infer<typeof ShippedAgent>;

export const ShippedAgentList = z.object({ agents: z.array(ShippedAgent) });
export type ShippedAgentList = z.infer<typeof ShippedAgentList>;

export const AddShippedAgent = z.strictObject({
  modelAlias: createShape.modelAlias.describe('Alias of the model that investigates. Default: `default`.'),
  enabled: z.boolean().default(true).describe('Whether its triggers are enabled.'),
  filter: UpdateTrigger.shape.filter.describe('Which hits or incidents it looks into. Default: all of them.'),
  runsPerHourMax: UpdateTrigger.shape.runsPerHourMax.describe('How many runs each trigger may start in an hour.'),
});
export type AddShippedAgent = z.infer<typeof AddShippedAgent>;

export const ShippedAgentUpdate = z.object({
  agentId: z.string(),
  version: z.string(),
  changes: z.array(FieldDiff).describe('What the new version changed in your agent.'),
  kept: z.array(FieldDiff).describe('What the new version would change, but you edited: `before` is yours and stays.'),
});
export type ShippedAgentUpdate = z.infer<typeof ShippedAgentUpdate>;
