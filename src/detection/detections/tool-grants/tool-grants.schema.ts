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
      effect: z.enum(['read', 'send', 'propose']).describe('send: the tool sends data to another system.'),
      source: z.enum(['built-in', 'mcp']),
      alias: z.string().nullable().describe('An earlier name of the tool, which still works.'),
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
  isTrusted: z
    .boolean()
    .default(false)
    .describe(
      'The results of the tool can prove something. Only for a system whose answers nobody outside can influence.',
    ),
  allowsFreeArguments: z
    .boolean()
    .default(false)
    .describe(
      'The model may send text of its own. Otherwise every argument is a value of the case, of an earlier result, or one that the schema of the tool lists.',
    ),
});
export type GrantToolInput = z.input<typeof GrantToolInput>;

export const ToolGrant = z.object({
  tool: z.string(),
  url: z.string().nullable(),
  isTrusted: z.boolean(),
  allowsFreeArguments: z.boolean(),
  allowedBy: z.string().nullable().describe('Id of the API key.'),
  actor: ActorField,
  allowedAt: z.string(),
});
export type ToolGrant = z.infer<typeof ToolGrant>;

export const ToolGrantList = z.object({ grants: z.array(ToolGrant) });
export type ToolGrantList = z.infer<typeof ToolGrantList>;
