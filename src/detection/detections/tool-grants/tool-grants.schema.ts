import { z } from 'zod';
import { ActorField } from '../../../platform/orgs/orgs.schema.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { IdPath } from '../record/detection-input.schema.ts';

export const ToolPath = IdPath.extend({ tool: boundedString({ min: 1, max: 100 }) });

export const ToolList = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      effect: z.enum(['read', 'send']).describe('send: the tool sends data to another system.'),
      source: z.enum(['built-in', 'mcp']),
      needsGrant: z.boolean().describe('An administrator must grant the tool to each detection.'),
    }),
  ),
});
export type ToolList = z.infer<typeof ToolList>;

export const GrantToolInput = z.strictObject({
  url: boundedString({ max: 2_000 })
    .optional()
    .describe(
      'For http_get. Scheme and host are fixed. `{entity}` and other names in braces are replaced with values of the entity.',
    ),
});
export type GrantToolInput = z.infer<typeof GrantToolInput>;

export const ToolGrant = z.object({
  tool: z.string(),
  url: z.string().nullable(),
  allowedBy: z.string().nullable().describe('Id of the API key.'),
  actor: ActorField,
  allowedAt: z.string(),
});
export type ToolGrant = z.infer<typeof ToolGrant>;

export const ToolGrantList = z.object({ grants: z.array(ToolGrant) });
export type ToolGrantList = z.infer<typeof ToolGrantList>;
