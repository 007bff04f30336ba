import type { CurrentSession } from '../../platform/orgs/sessions/sessions.schema.ts';
import type { ServerTool } from './tools/tool.ts';
import { detectionTools } from './tools/detection-tools.ts';
import { feedTools } from './tools/feed-tools.ts';
import { hitTools } from './tools/hit-tools.ts';
import { postureTools } from './tools/posture-tools.ts';
import { writeTools } from './tools/write-tools.ts';

/** Every tool of the MCP server, in the order in which clients list them. */
export const serverTools: readonly ServerTool[] = [
  ...postureTools,
  ...hitTools,
  ...feedTools,
  ...detectionTools,
  ...writeTools,
];

/** Returns the tools that a key may use: those whose scopes it has, and tools that change something only if `isWriteEnabled`. */
export const toolsFor = ({ scopes }: Pick<CurrentSession, 'scopes'>, isWriteEnabled: boolean): ServerTool[] =>
  serverTools.filter(
    (tool) => (isWriteEnabled || !tool.isWrite) && tool.scopes.every((scope) => scopes.includes(scope)),
  );
