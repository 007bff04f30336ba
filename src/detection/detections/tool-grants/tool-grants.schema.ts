import { z } from 'zod';
import { text } from '../../../platform/lib/text/bounded-text.ts';
import { IdPath } from '../record/detection-input.ts';

export const ToolPath = IdPath.extend({ tool: text({ min: 1, max: 100 }) });

export const ToolList = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      effect: z.enum(['read', 'send']).describe('send: something leaves for another place.'),
      source: z.enum(['built-in', 'mcp']),
      needsGrant: z.boolean().describe('An administrator has to allow it to each detection.'),
    }),
  ),
});
export type ToolList = z.infer<typeof ToolList>;

export const AllowTool = z.strictObject({
  url: text({ max: 2_000 })
    .optional()
    .describe(
      'Of http_get: scheme and host are fixed, `{entity}` and other names in braces take values of the entity.',
    ),
});
export type AllowTool = z.infer<typeof AllowTool>;

export const ToolGrant = z.object({
  tool: z.string(),
  url: z.string().nullable(),
  allowedBy: z.string().nullable().describe('Id of the key.'),
  allowedAt: z.string(),
});
export type ToolGrant = z.infer<typeof ToolGrant>;

export const ToolGrantList = z.object({ grants: z.array(ToolGrant) });
export type ToolGrantList = z.infer<typeof ToolGrantList>;
