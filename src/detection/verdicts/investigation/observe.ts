import { hash } from 'node:crypto';
import { redactDeep } from '../../../platform/lib/text/redact.ts';
import type { BoundTool } from '../../tools/tool-definition.ts';
import type { ToolResult } from '../../tools/tool-result.ts';
import type { Observation } from '../observation.ts';

type ToolRun = Pick<Observation, 'id' | 'source' | 'at' | 'ms'> & {
  tool: Pick<BoundTool, 'name' | 'isTrusted'>;
  input: unknown;
};

/** Returns the observation that a tool call made. Its rows are rendered and bounded already. */
export const toObservation = (
  { id, tool: { name, isTrusted }, source, input, at, ms }: ToolRun,
  { query, from, to, columns, rows, total, truncated, hasEvents }: ToolResult,
): Observation => ({
  id,
  tool: name,
  input: redactDeep(input ?? null),
  query,
  from: from?.toISOString() ?? null,
  to: to?.toISOString() ?? null,
  columns,
  rows,
  total,
  truncated,
  hasEvents,
  source,
  isTrusted,
  at,
  ms,
  hash: hash('sha256', JSON.stringify(rows)),
});
